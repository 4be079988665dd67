import type { ContentType } from './execution.ts';

/** A message as it was understood. */
export interface Message {
  readonly contentType: ContentType;
  readonly body: Uint8Array;
  /** What the reply shows of it. */
  readonly shown: unknown;
}
