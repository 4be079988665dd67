import type { PullProgress } from '../engine.ts';
import type { PullLine } from './shapes.ts';

interface Layer {
  bytes: number;
  bytesDone: number;
  isDone: boolean;
}

const layerIsDone = /^(Pull complete|Already exists|Skipped|Image is up to date)/;

/** Adds up what the engine tells layer by layer. */
export class ProgressSum {
  readonly #layers = new Map<string, Layer>();

  /** The sum after this line; undefined when the line is not about a layer. */
  add({ id, status, progressDetail }: PullLine): PullProgress | undefined {
    // The first line's id is the tag, and says "Pulling from …".
    if (id === undefined || status === undefined || status.startsWith('Pulling from'))
      return undefined;
    const layer = this.#layers.get(id) ?? { bytes: 0, bytesDone: 0, isDone: false };
    this.#layers.set(id, layer);
    // Extracting tells progress once more, of the same bytes.
    if (status === 'Downloading') {
      layer.bytes = Math.max(layer.bytes, progressDetail?.total ?? 0);
      layer.bytesDone = progressDetail?.current ?? layer.bytesDone;
    } else if (!status.startsWith('Pulling') && status !== 'Waiting') layer.bytesDone = layer.bytes;
    if (layerIsDone.test(status)) layer.isDone = true;
    return this.#sum();
  }

  #sum(): PullProgress {
    const layers = [...this.#layers.values()];
    return {
      layers: layers.length,
      layersDone: layers.filter(({ isDone }) => isDone).length,
      bytes: layers.reduce((sum, { bytes }) => sum + bytes, 0),
      bytesDone: layers.reduce((sum, { bytesDone }) => sum + bytesDone, 0),
    };
  }
}
