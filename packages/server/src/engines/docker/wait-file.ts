import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '../../ids.ts';
import { waitProgram, waitVersion } from './wait-program.ts';

/** The waiting program as a file of this machine, which spares see. */
export class WaitFile {
  readonly #folder: string | undefined;
  /** By architecture. */
  readonly #provided = new Map<string, Promise<string | undefined>>();
  #isOff = false;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Where it is. Undefined: there is none for this processor, or no place for it. */
  async provide(architecture: string): Promise<string | undefined> {
    if (this.#isOff || this.#folder === undefined) return undefined;
    const known = this.#provided.get(architecture);
    if (known !== undefined) return known;
    const provided = write(this.#folder, architecture);
    this.#provided.set(architecture, provided);
    provided.catch(() => this.#provided.delete(architecture));
    return provided;
  }

  turnOff(): void {
    this.#isOff = true;
  }
}

async function write(folder: string, architecture: string): Promise<string | undefined> {
  const program = waitProgram(architecture);
  if (program === undefined) return undefined;
  const path = join(folder, `wait-${waitVersion}-${architecture}`);
  const found = await readFile(path).catch(() => undefined);
  if (found?.equals(program) === true) return path;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // In one step: containers that wait may still have the old one.
  const draft = `${path}.${newId()}`;
  await writeFile(draft, program);
  await chmod(draft, 0o755);
  await rename(draft, path);
  return path;
}
