import { PullFailed } from '../../packages/server/src/engines/engine.ts';
import { say } from '../say.ts';
import { debianBases } from './debian-bases.ts';
import type { EngineImages } from './engine-images.ts';
import type { BaseKind, Sample } from './sample.ts';

export interface BaseChoice {
  /** Never ask a registry. */
  readonly local: boolean;
  /** What the names of those begin with that are made here. */
  readonly madeAs?: string;
}

/**
 * Finds the bases of the samples: what the engine has, else from the public registry, else made from Debian's packages.
 * A registry that cannot be reached is asked once.
 */
export class Bases {
  readonly #engine: EngineImages;
  readonly #local: boolean;
  readonly #madeAs: string;
  readonly #found = new Map<string, string>();
  #unreachable = false;

  constructor(engine: EngineImages, { local, madeAs = 'reactord/base-' }: BaseChoice) {
    this.#engine = engine;
    this.#local = local;
    this.#madeAs = madeAs;
  }

  /** The reference of a base that the engine has. */
  async provide({ base, publicBase }: Sample): Promise<string> {
    const known = this.#found.get(publicBase);
    if (known !== undefined) return known;
    const reference = await this.#find(base, publicBase);
    this.#found.set(publicBase, reference);
    return reference;
  }

  async #find(kind: BaseKind, publicBase: string): Promise<string> {
    const own = `${this.#madeAs}${kind}`;
    const recipe = debianBases[kind];
    if ((await this.#engine.find(publicBase)) !== undefined) return publicBase;
    if ((await this.#engine.find(own))?.source === recipe.source) return own;
    if (!this.#local && !this.#unreachable && (await this.#pull(publicBase))) return publicBase;
    say(`making ${own} from Debian's packages (${recipe.takes})…`);
    const { archive, changes } = await recipe.make();
    await this.#engine.load(own, archive, recipe.source, changes);
    return own;
  }

  async #pull(reference: string): Promise<boolean> {
    say(`pulling ${reference}…`);
    try {
      await this.#engine.pull(reference);
      return true;
    } catch (error) {
      if (!(error instanceof PullFailed)) throw error;
      if (error.reason === 'unreachable') this.#unreachable = true;
      say(`${error.message}.`);
      return false;
    }
  }
}
