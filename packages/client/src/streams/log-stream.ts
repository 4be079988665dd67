import type { Api, CallOptions } from '../api.ts';
import { follow } from './following.ts';

export interface LogLine {
  /** Its place in the log; `after` goes on behind it. */
  readonly id: string;
  /** `notice`: the service's own words about what was not kept. */
  readonly stream: 'stdout' | 'stderr' | 'notice';
  readonly time: string;
  /** With its line end, so that all texts together are the log. A line that was written in pieces comes in pieces. */
  readonly text: string;
}

export interface LogEnd {
  readonly status: string;
  readonly exitCode: number | null;
}

export interface FollowLogOptions extends CallOptions {
  /** Only one of the two. */
  readonly stream?: 'stdout' | 'stderr' | undefined;
  /** Only so many of the lines that are there already. */
  readonly tail?: number | undefined;
  /** Go on behind the line of this id. */
  readonly after?: string | undefined;
}

/** A log as it is written. `for await` ends when the execution is over; `end` then says how. */
export class LogStream implements AsyncIterable<LogLine> {
  /** How the execution ended, once it has. */
  end: LogEnd | undefined;
  readonly #events: () => ReturnType<typeof follow>;

  constructor(api: Api, path: LogPath, options: FollowLogOptions) {
    const { stream, tail, after, signal, timeoutMs } = options;
    this.#events = () =>
      follow({
        signal,
        isLast: ({ event }) => event === 'end',
        open: (lastId = after, ended) =>
          api.open('GET /actors/v2/{reactorId}/executions/{executionId}/logs', {
            path,
            query: { follow: true, stream, tail },
            headers: {
              accept: 'text/event-stream',
              ...(lastId !== undefined && { 'last-event-id': lastId }),
            },
            options: { signal: ended, timeoutMs },
          }),
      });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LogLine, void, void> {
    for await (const { event, id, data } of this.#events()) {
      if (event === 'end') this.end = JSON.parse(data);
      else if (event === 'log') yield { id, ...JSON.parse(data) };
    }
  }
}

interface LogPath {
  readonly reactorId: string;
  readonly executionId: string;
}
