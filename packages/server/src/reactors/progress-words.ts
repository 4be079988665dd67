import type { PullProgress } from '../engines/engine.ts';

const megabyte = 1_000_000;

/** "pulling: 3 of 5 layers, 40 of 120 MB" */
export function progressWords({ layers, layersDone, bytes, bytesDone }: PullProgress): string {
  if (layers === 0) return 'pulling';
  const counted = `pulling: ${layersDone} of ${layers} ${layers === 1 ? 'layer' : 'layers'}`;
  if (bytes === 0) return counted;
  return `${counted}, ${inMegabytes(bytesDone, bytes)} of ${inMegabytes(bytes, bytes)} MB`;
}

/** With a digit after the point where whole megabytes would say nothing. */
function inMegabytes(bytes: number, all: number): string {
  return (bytes / megabyte).toFixed(all < 10 * megabyte ? 1 : 0);
}

/** Hands on the newest text at most once in a while; texts that come in between are left out. */
export class Unhurried {
  readonly #say: (text: string) => void;
  readonly #everyMs: number;
  #said = '';
  #next = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(everyMs: number, say: (text: string) => void) {
    this.#everyMs = everyMs;
    this.#say = say;
  }

  tell(text: string): void {
    this.#next = text;
    if (this.#timer === undefined) this.#sayNext();
  }

  /** What was not said yet is not said any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#next = this.#said;
  }

  #sayNext(): void {
    this.#timer = undefined;
    if (this.#next === this.#said) return;
    this.#said = this.#next;
    this.#say(this.#said);
    this.#timer = setTimeout(() => this.#sayNext(), this.#everyMs);
    this.#timer.unref();
  }
}
