import { ReactordError } from '../errors.ts';

/** Of the service, and of images that were written for its ancestor. */
const prefixes = ['_svc_', '_abaco_'] as const;

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the service has told the container, by the names behind the prefix. */
export class Variables {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Undefined where it was not told. */
  find(name: string): string | undefined {
    for (const prefix of prefixes) {
      const value = this.#environment[`${prefix}${name}`];
      if (value !== undefined) return value;
    }
    return undefined;
  }

  get(name: string): string {
    return this.find(name) ?? '';
  }

  need(name: string): string {
    const value = this.find(name);
    if (value !== undefined && value !== '') return value;
    throw new ReactordError(
      'not_in_a_container',
      `There is no variable ${prefixes[0]}${name}: this works inside a container that the service has started.`,
    );
  }

  /** All whose names begin so, without that beginning. */
  startingWith(beginning: string): Readonly<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const prefix of prefixes.toReversed())
      for (const [name, value] of Object.entries(this.#environment))
        if (value !== undefined && name.startsWith(`${prefix}${beginning}`))
          found[name.slice(prefix.length + beginning.length)] = value;
    return found;
  }

  /** The message where it is a variable, which has no prefix. */
  get message(): string | undefined {
    return this.#environment['MSG'];
  }
}
