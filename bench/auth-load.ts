import autocannon from 'autocannon';

/** What the load process is asked to do: one run against one address. */
export interface Load {
  readonly url: string;
  readonly seconds: number;
  readonly connections: number;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Each connection takes its turn through its share of these. */
  readonly tokens?: readonly string[];
}

export interface LoadResult {
  /** Replies with 200, a second. */
  readonly rate: number;
  readonly failures: number;
  readonly p99: number;
}

process.on('message', async (load: Load) => {
  process.send?.(await drive(load));
});

process.once('disconnect', () => process.exit());

async function drive(load: Load): Promise<LoadResult> {
  const { url, seconds, connections, method, headers, body, tokens } = load;
  let next = 0;
  const result = await autocannon({
    url,
    duration: seconds,
    connections,
    method,
    headers: { ...headers },
    ...(body !== undefined && { body }),
    ...(tokens !== undefined && {
      setupClient: (client) => {
        const share = tokens.filter((_, place) => place % connections === next);
        next += 1;
        client.setRequests(
          share.map((token) => ({
            method,
            path: new URL(url).pathname,
            headers: { ...headers, authorization: `Bearer ${token}` },
          })),
        );
      },
    }),
  });
  const failures = result.non2xx + result.errors + result.timeouts;
  return { rate: result['2xx'] / result.duration, failures, p99: result.latency.p99 };
}
