import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../../packages/server/test/harness/free-port.ts';
import {
  engineAddress,
  forgetImage,
  makeTestImage,
} from '../../packages/server/test/harness/images.ts';
import {
  type RunningRegistry,
  startRegistry,
} from '../../packages/server/test/harness/registry.ts';
import { Bases } from '../images/bases.ts';
import { buildSample } from '../images/build.ts';
import { EngineImages } from '../images/engine-images.ts';
import { readSample, type Sample } from '../images/sample.ts';

/** Where the base of a sample comes from. */
describe('the base of a sample', () => {
  let engine: EngineImages;
  let registry: RunningRegistry;
  let there: string;
  const madeAs = `reactord-test/base-${process.pid}-`;
  const made = [`${madeAs}busybox`];
  before(async () => {
    engine = new EngineImages(engineAddress);
    registry = await startRegistry({ login: false });
    there = `${registry.host}/library/busybox:stable`;
    const image = await makeTestImage();
    await image.push(there);
    await image.remove();
  });
  after(async () => {
    for (const name of made) await forgetImage(name);
    engine.close();
    await registry.stop();
  });

  const basesOf = (local: boolean) => new Bases(engine, { local, madeAs });
  const nowhere = async () => `127.0.0.1:${await freePort()}/library/busybox:stable`;
  const hello = readSample('hello');
  const onBase = (publicBase: string, name = hello.name): Sample => ({
    ...hello,
    name,
    publicBase,
  });

  test('is pulled where a registry has it, and found the next time without asking', async () => {
    made.push(there);
    assert.equal(await basesOf(false).provide(onBase(there)), there);
    assert.equal(await basesOf(true).provide(onBase(there)), there);
  });

  test('is made from Debian’s packages where no registry answers, or none is to be asked', async () => {
    const base = await nowhere();
    for (const local of [false, true])
      assert.equal(await basesOf(local).provide(onBase(base)), `${madeAs}busybox`);
  });

  test('makes another image, which is built once', async () => {
    const name = `reactord-test/hello-${process.pid}`;
    made.unshift(name);
    const bases = basesOf(false);
    const build = (publicBase: string) => buildSample(engine, bases, onBase(publicBase, name));
    assert.equal(await build(there), 'built');
    assert.equal(await build(there), 'unchanged');
    assert.equal(await build(await nowhere()), 'built', 'another base makes another image');
  });

  test('and a Dockerfile that is wrong is said in words', async () => {
    const sample = {
      ...onBase(there),
      name: 'reactord-test/broken',
      dockerfile: 'FROM scratch\nNONSENSE',
    };
    const bases = basesOf(true);
    await assert.rejects(buildSample(engine, bases, sample), /NONSENSE/);
  });
});
