import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { openScene, type Scene, type Sender } from '../harness/execution-scene.ts';
import { startService, withSpares } from '../harness/running-service.ts';
import { until } from '../harness/until.ts';

interface Accepted {
  readonly reactor: string;
  readonly message: string;
  readonly execution: string;
}

interface Ran {
  readonly id: string;
  readonly status: string;
  readonly startTime: string;
  readonly finishTime: string;
}

const reactorCount = 4;
/** More would only make the wait at the end longer. */
const mostWaiting = 12;

/**
 * Kills the service again and again at random moments while messages are posted and run. Afterwards every accepted
 * message has run exactly once, in the order of its reactor, with its output and exit code kept.
 * With an address of PostgreSQL a worker runs them too, and is killed in turn with the service.
 */
export async function killUnderLoad(kills: number, database?: string): Promise<void> {
  const environment = {
    ...withSpares,
    REACTORD_LOG_LEVEL: 'warn',
    ...(database !== undefined && shared(database)),
  };
  const scene = await openScene({ environment });
  const worker = database === undefined ? undefined : await openWorker(environment);
  const load = new Load(scene.admin);
  const witness = await openWitness();
  try {
    for (let made = 0; made < reactorCount; made += 1) {
      const reactor = await scene.admin.register({
        image: scene.image.reference,
        default_environment: {
          RUN: `${tells}; echo begin $MSG; echo end $MSG; exit 5`,
          WITNESS: String(witness.port),
        },
        // Half of them have a spare from the beginning, the others once they are busy.
        ...(made % 2 === 0 && { warm: 1 }),
      });
      load.begin(reactor);
    }
    for (let killed = 0; killed < kills; killed += 1) {
      await pause(Math.random() * 1_500);
      if (worker !== undefined && killed % 2 === 1) await worker.restart();
      else await scene.restart('SIGKILL');
    }
    await load.end();
    await checkAll(scene, load);
    for (const { message } of load.accepted)
      assert.equal(witness.seen.get(message), 1, `how often ${message} was run`);
    const byWorker = [...witness.places].some((place) => place.startsWith(workerAddress));
    assert.equal(byWorker, worker !== undefined, 'the worker took part');
  } catch (error) {
    console.error(scene.service.output().slice(-4_000));
    throw error;
  } finally {
    await load.end();
    witness.close();
    await worker?.dispose();
    await scene.dispose();
  }
}

/** Where the containers of the worker look for the service, by which they are known. */
const workerAddress = 'http://worker.invalid';

/** With so few places that neither can do it all. */
const shared = (database: string) => ({
  REACTORD_DATABASE: database,
  REACTORD_SECRETS_KEY: '0'.repeat(64),
  REACTORD_CONTAINERS_AT_ONCE: '2',
});

async function openWorker(environment: Readonly<Record<string, string>>) {
  const options = {
    flags: ['worker'],
    environment: {
      ...environment,
      REACTORD_PULL_POLICY: 'missing',
      REACTORD_BASE_URL: workerAddress,
      REACTORD_ALLOW_HTTP: 'true',
    },
  };
  let worker = await startService(options);
  return {
    restart: async (): Promise<void> => {
      const { data } = worker;
      worker.signal('SIGKILL');
      await worker.ended;
      worker = await startService({ ...options, data });
    },
    dispose: () => worker.dispose(),
  };
}

/** A static program cannot look up names, so the shell does. */
const tells =
  'ip=$(awk \'$2 == "host.docker.internal" { print $1; exit }\' /etc/hosts); echo "$MSG $_svc_api_server" | nc $ip $WITNESS';

/** Counts how often each message was really run, whatever the records say. */
async function openWitness() {
  const seen = new Map<string, number>();
  const places = new Set<string>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      const [message = '', place = ''] = bytes.toString().trim().split(' ');
      places.add(place);
      seen.set(message, (seen.get(message) ?? 0) + 1);
      socket.end();
    });
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { seen, places, port, close: () => server.close() };
}

/** Posts to each reactor, one message after the other, whatever becomes of the service. */
class Load {
  readonly accepted: Accepted[] = [];
  /** Posts whose reply was lost: the message may have been accepted or not. */
  readonly unsure = new Set<string>();
  readonly reactors: string[] = [];
  readonly #sender: Sender;
  readonly #loops: Promise<void>[] = [];
  #ended = false;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  begin(reactor: string): void {
    this.reactors.push(reactor);
    this.#loops.push(this.#post(reactor));
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all(this.#loops);
  }

  async #post(reactor: string): Promise<void> {
    for (let number = 0; !this.#ended; number += 1) {
      const message = `${reactor}-${number}`;
      try {
        const execution = await this.#sender.send(reactor, message);
        this.accepted.push({ reactor, message, execution });
        const inbox = await this.#sender.call('GET', `/${reactor}/messages`);
        if (inbox.json().result.messages > mostWaiting) await pause(1_000);
      } catch {
        this.unsure.add(message);
        await pause(50);
      }
    }
  }
}

async function checkAll({ admin }: Scene, load: Load): Promise<void> {
  assert.ok(load.accepted.length > 0, 'nothing was accepted');
  for (const { reactor, message, execution } of load.accepted) {
    const record = await admin.ended(reactor, execution, 240_000);
    assert.equal(record.status, 'COMPLETE', `${message}: ${record.statusMessage}`);
    assert.equal(record.exitCode, 5, message);
    assert.equal(await admin.log(reactor, execution), `begin ${message}\nend ${message}\n`);
  }
  for (const reactor of load.reactors) await checkReactor(admin, load, reactor);
  await until('nothing to wait any more', async () => {
    const counts = await Promise.all(
      load.reactors.map((reactor) => admin.call('GET', `/${reactor}/messages`)),
    );
    return counts.every((reply) => reply.json().result.messages === 0);
  });
}

async function checkReactor(admin: Sender, load: Load, reactor: string): Promise<void> {
  const accepted = load.accepted.filter((one) => one.reactor === reactor);
  const ran = await everythingOf(admin, reactor);
  for (const { id } of ran) await admin.ended(reactor, id, 240_000);
  // In the order of receipt, oldest first.
  const inOrder = (await everythingOf(admin, reactor)).toReversed();
  const known = new Map(accepted.map(({ execution, message }) => [execution, message]));
  const messages: string[] = [];
  for (const [at, { id, startTime }] of inOrder.entries()) {
    const message = known.get(id) ?? (await messageOf(admin, reactor, id));
    messages.push(message);
    if (!known.has(id)) assert.ok(load.unsure.has(message), `${message} was never posted`);
    const before = inOrder[at - 1];
    if (before !== undefined)
      assert.ok(before.finishTime <= startTime, `${message} began before the one before it ended`);
  }
  assert.equal(new Set(messages).size, messages.length, 'a message was accepted twice');
  for (const { message } of accepted) assert.ok(messages.includes(message), `${message} is lost`);
  const numbers = messages.map((message) => Number(message.split('-').at(-1)));
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
    'not in the order of receipt',
  );
}

async function everythingOf(admin: Sender, reactor: string): Promise<Ran[]> {
  const all: Ran[] = [];
  for (let offset = 0; ; offset += 1000) {
    const query = `?limit=1000&offset=${offset}`;
    const reply = await admin.call('GET', `/${reactor}/executions`, { query });
    const page: Ran[] = reply.json().result.executions;
    all.push(...page);
    if (page.length < 1000) return all;
  }
}

async function messageOf(admin: Sender, reactor: string, id: string): Promise<string> {
  return (await admin.call('GET', `/${reactor}/executions/${id}/message`)).text;
}
