import type { Config } from '../config.ts';
import { type Engine, type Image, PullFailed, type PullProgress } from '../engines/engine.ts';
import { readReference } from '../engines/image-reference.ts';
import type { PullCredentials } from './pull-credentials.ts';
import type { Reactor } from './reactor.ts';

export interface ObtainParts {
  readonly engine: Pick<Engine, 'pull' | 'findImage'>;
  readonly credentials: Pick<PullCredentials, 'forPull'>;
  readonly policy: Config['pull_policy'];
}

export interface Obtained {
  readonly image: Image;
  /** Empty, or why it is not what the registry has now. */
  readonly remark: string;
}

interface Wish {
  /** Whose image it is, and with whose credentials it is pulled. */
  readonly reactor: Pick<Reactor, 'ownerId' | 'registryCredentials'>;
  readonly reference: string;
  /** Ask the registry although the operator lets a copy at hand do. */
  readonly askRegistry: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
}

/** Pulls of the same reference that are under way in this process. */
const underWay = new Map<string, Set<Promise<unknown>>>();

/**
 * The image that a registration names: from its registry, or else the copy that the engine has. Rejects with
 * PullFailed when there is neither, and with EngineUnavailable.
 */
export async function obtainImage(parts: ObtainParts, wish: Wish): Promise<Obtained> {
  const { reference, askRegistry } = wish;
  if (parts.policy === 'missing' && !askRegistry) {
    const atHand = await parts.engine.findImage(reference);
    if (atHand !== undefined) return { image: atHand, remark: '' };
  }
  try {
    return { image: await pull(parts, wish), remark: '' };
  } catch (error) {
    if (!(error instanceof PullFailed) || wish.signal.aborted) throw error;
    const atHand = await parts.engine.findImage(reference);
    if (atHand === undefined) throw error;
    const remark = `The copy at hand on this machine is used, because the pull failed: ${error.message}`;
    return { image: atHand, remark };
  }
}

/**
 * The image of a reactor that was READY, and that the engine has lost since: the same content where the registry still
 * has it, or else what the reference names now.
 */
export async function obtainAgain(parts: ObtainParts, reactor: Reactor): Promise<Obtained> {
  const wish = { reactor, signal: new AbortController().signal, onProgress: () => {} };
  const name = readReference(reactor.image)?.name;
  const same =
    reactor.imageDigest === null || name === undefined
      ? undefined
      : `${name}@${reactor.imageDigest}`;
  if (same !== undefined) {
    try {
      const image = await pull(parts, { reference: same, askRegistry: false, ...wish });
      return { image, remark: '' };
    } catch (error) {
      if (!(error instanceof PullFailed)) throw error;
    }
  }
  return obtainImage(parts, { reference: reactor.image, askRegistry: false, ...wish });
}

async function pull(parts: ObtainParts, wish: Wish): Promise<Image> {
  const { reactor, reference, askRegistry, signal, onProgress } = wish;
  const parsed = readReference(reference);
  const key = parsed === undefined ? reference : `${parsed.repository} ${parsed.version}`;
  const others = underWay.get(key) ?? new Set();
  // Who asks by force wants what the registry has now, not what a pull that began earlier will bring.
  if (askRegistry) await Promise.allSettled(others);
  signal.throwIfAborted();
  const credentials = await parts.credentials.forPull(reactor, reference);
  const pulling = parts.engine.pull(reference, { credentials, signal, onProgress });
  underWay.set(key, others.add(pulling));
  try {
    return await pulling;
  } finally {
    others.delete(pulling);
    if (others.size === 0 && underWay.get(key) === others) underWay.delete(key);
  }
}
