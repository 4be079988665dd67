import { createHash } from 'node:crypto';
import { tarOf } from '../../packages/server/src/engines/docker/tar.ts';
import type { Bases } from './bases.ts';
import { readContext } from './context.ts';
import type { EngineImages } from './engine-images.ts';
import type { Sample } from './sample.ts';

/** Builds one image, unless the engine has it from the same files on the same base. */
export async function buildSample(
  engine: EngineImages,
  bases: Bases,
  sample: Sample,
): Promise<'built' | 'unchanged'> {
  const base = await bases.provide(sample);
  const context = readContext(sample);
  const baseId = (await engine.find(base))?.id ?? '';
  const source = createHash('sha256').update(`${context.digest} ${baseId}`).digest('hex');
  if ((await engine.find(sample.name))?.source === source) return 'unchanged';
  await engine.build(sample.name, tarOf(context.files), {
    dockerfile: context.dockerfileName,
    base,
    source,
  });
  return 'built';
}
