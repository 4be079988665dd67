import type { Output } from './output.ts';

const barWidth = 24;
const turns = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/**
 * One line on standard error that is drawn again and again while somebody watches a terminal, and that is gone at the
 * end. Nobody watches a pipe: there it draws nothing.
 */
export class Progress {
  readonly #output: Output;
  readonly #timer: NodeJS.Timeout | undefined;
  #text = '';
  #share: number | undefined;
  #turn = 0;
  #drawn = false;

  constructor(output: Output, text: string) {
    this.#output = output;
    this.#text = text;
    if (!output.isWatched) return;
    this.#draw();
    this.#timer = setInterval(() => this.#draw(), 100);
    this.#timer.unref();
  }

  /** `share`: from 0 to 1; undefined while nobody knows. */
  tell(text: string, share?: number): void {
    this.#text = text;
    this.#share = share;
  }

  end(): void {
    clearInterval(this.#timer);
    if (this.#drawn) this.#output.errorRaw('\r\u001b[2K');
    this.#drawn = false;
  }

  #draw(): void {
    const { noteColours: colours, width } = this.#output;
    this.#turn += 1;
    const mark =
      this.#share === undefined
        ? colours.cyan(turns[this.#turn % turns.length] ?? '')
        : colours.cyan(bar(this.#share));
    const room = Math.max(10, width - (this.#share === undefined ? 3 : barWidth + 8));
    const text = this.#text.length > room ? `${this.#text.slice(0, room - 1)}…` : this.#text;
    this.#output.errorRaw(`\r\u001b[2K${mark} ${text}`);
    this.#drawn = true;
  }
}

function bar(share: number): string {
  const whole = Math.min(1, Math.max(0, share));
  const full = Math.round(whole * barWidth);
  return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${String(Math.round(whole * 100)).padStart(3)}%`;
}

/** How far an image is, in the words of a reactor's statusMessage: `pulling: 3 of 5 layers, 40 of 120 MB`. */
export function pulledShare(statusMessage: string): number | undefined {
  const bytes = /([\d.]+) of ([\d.]+) MB/.exec(statusMessage);
  const layers = /(\d+) of (\d+) layers?/.exec(statusMessage);
  const found = bytes ?? layers;
  if (found === null) return undefined;
  const [, done, all] = found.map(Number);
  return done === undefined || !all ? undefined : done / all;
}
