import autocannon from 'autocannon';

/** What the load process is asked to do: one run against one address. */
export interface PostLoad {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PostResult {
  /** Replies with 2xx, a second. */
  readonly rate: number;
  readonly failures: number;
}

// In a process of its own, so that it does not take the time of what it measures.
process.on('message', async ({ url, seconds, connections, headers, body }: PostLoad) => {
  const result = await autocannon({
    url,
    duration: seconds,
    connections,
    method: 'POST',
    headers: { ...headers },
    body,
  });
  const answer: PostResult = {
    rate: result['2xx'] / result.duration,
    failures: result.non2xx + result.errors + result.timeouts,
  };
  process.send?.(answer);
});
