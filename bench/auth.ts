import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Load, LoadResult } from './auth-load.ts';
import type { ServerReady } from './auth-server.ts';
import type { BenchResult, BenchRow } from './bench-result.ts';
import { answerOf, forkBeside } from './child.ts';
import { beside } from './rounds.ts';

// Many short ones: what else the machine does comes and goes within seconds, and should meet both sides.
const rounds = 41;
const seconds = 1;
const warmUpSeconds = 5;
const connections = 100;
const used = 10_000;
const few = 10_000;
const many = 1_000_000;

/** A server in a process of its own. */
interface Server {
  readonly ready: ServerReady;
  readonly child: ChildProcess;
}

/** The two sides of one figure, measured one after the other in each round. */
interface Pair {
  readonly what: string;
  readonly peer: string;
  readonly bar: number | undefined;
  readonly ours: Load;
  readonly theirs: Load;
}

/** Tokens issued, and requests checked, each beside its peer; the load comes from a process of its own. */
export async function run(): Promise<BenchResult> {
  const children: ChildProcess[] = [];
  const start = async (file: string, wish?: object): Promise<Server> => {
    const child = forkBeside(file);
    children.push(child);
    if (wish !== undefined) child.send(wish);
    return { ready: await answerOf<ServerReady>(child), child };
  };
  try {
    const load = forkBeside('auth-load.ts');
    children.push(load);
    const peer = await start('auth-peer.ts');
    const small = await start('auth-server.ts', { tokens: few, used });
    const large = await start('auth-server.ts', { tokens: many, used });
    const pairs: Pair[] = [
      {
        what: '/token, client credentials, on disk',
        peer: 'oidc-provider, in memory',
        bar: 1.5,
        ours: asking(small),
        theirs: asking(peer),
      },
      {
        what: 'GET with a Bearer check',
        peer: 'the same without a check',
        bar: 0.85,
        ours: calling(small, '/checked'),
        theirs: calling(small, '/open'),
      },
      {
        what: 'check, 1,000,000 live tokens',
        peer: '10,000 live tokens',
        bar: 0.9,
        ours: calling(large, '/checked'),
        theirs: calling(small, '/checked'),
      },
      {
        what: 'check at the store, 1,000,000 live tokens',
        peer: '10,000 live tokens',
        bar: 0.9,
        ours: calling(large, '/checked', large.ready.forgetfulUrl),
        theirs: calling(small, '/checked', small.ready.forgetfulUrl),
      },
    ];
    const rows = [];
    for (const pair of pairs) rows.push(await measure(load, pair));
    return {
      title: `Authorization: requests a second over ${connections} connections, medians of ${rounds} rounds of ${seconds} s`,
      rows,
    };
  } finally {
    // Each clears up after itself and ends when nobody is left to talk to.
    await Promise.all(children.map((child) => endOf(child)));
  }
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  await ended;
}

async function measure(load: ChildProcess, pair: Pair): Promise<BenchRow> {
  const drive = async (wanted: Load): Promise<number> => {
    load.send(wanted);
    const { rate, failures } = await answerOf<LoadResult>(load);
    if (failures > 0) throw new Error(`${failures} requests of "${pair.what}" failed`);
    return rate;
  };
  // What is compiled and remembered on the first calls is not what is measured.
  await drive({ ...pair.ours, seconds: warmUpSeconds });
  await drive({ ...pair.theirs, seconds: warmUpSeconds });
  return beside(
    { ...pair, ours: () => drive(pair.ours), theirs: () => drive(pair.theirs) },
    rounds,
  );
}

function asking({ ready: { url, key, secret } }: Server): Load {
  return {
    url: `${url}/token`,
    seconds,
    connections,
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  };
}

function calling({ ready: { url, tokens } }: Server, path: string, at = url): Load {
  return { url: at + path, seconds, connections, method: 'GET', headers: {}, tokens };
}
