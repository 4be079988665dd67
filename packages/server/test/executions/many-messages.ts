import assert from 'node:assert/strict';
import { openScene } from '../harness/execution-scene.ts';

interface Sent {
  readonly reactor: string;
  readonly message: string;
  readonly execution: string;
}

const reactorCount = 10;
const clientCount = 20;

/**
 * Many clients at once post to ten reactors. Each reactor runs its messages one at a time in the order of receipt;
 * each client's messages to a reactor in the order in which it posted them; none is missing, none runs twice.
 */
export async function postManyMessages(
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const scene = await openScene({ environment: { REACTORD_LOG_LEVEL: 'warn', ...settings } });
  try {
    const { admin, image } = scene;
    const reactors = await Promise.all(
      Array.from({ length: reactorCount }, () =>
        admin.register({
          image: image.reference,
          default_environment: { RUN: 'echo $MSG' },
        }),
      ),
    );
    const sent: Sent[] = [];
    const post = async (client: number): Promise<void> => {
      for (let number = 0; number < count / clientCount; number += 1) {
        const reactor = reactors[(client + number) % reactorCount] ?? '';
        const message = `${client}.${number}`;
        const execution = await admin.send(reactor, message);
        sent.push({ reactor, message, execution });
      }
    };
    await Promise.all(Array.from({ length: clientCount }, (_, client) => post(client)));
    assert.equal(sent.length, count);
    for (const reactor of reactors) {
      const own = sent.filter((one) => one.reactor === reactor);
      for (const { execution, message } of own) {
        const record = await admin.ended(reactor, execution, 600_000);
        assert.equal(record.status, 'COMPLETE', record.statusMessage);
        assert.equal(await admin.log(reactor, execution), `${message}\n`);
      }
      const listed = await admin.call('GET', `/${reactor}/executions`, { query: '?limit=1000' });
      const { executions, totalExecutions } = listed.json().result;
      assert.equal(totalExecutions, own.length);
      const inOrder: { id: string; startTime: string; finishTime: string }[] =
        executions.toReversed();
      assert.deepEqual(
        new Set(inOrder.map(({ id }) => id)),
        new Set(own.map(({ execution }) => execution)),
      );
      for (const [at, { startTime }] of inOrder.entries()) {
        const before = inOrder[at - 1];
        if (before !== undefined)
          assert.ok(before.finishTime <= startTime, `${at} began too early`);
      }
      const messages = new Map(own.map(({ execution, message }) => [execution, message]));
      const lastOf = new Map<string, number>();
      for (const { id } of inOrder) {
        const [client = '', number = ''] = (messages.get(id) ?? '').split('.');
        assert.ok((lastOf.get(client) ?? -1) < Number(number), `${client}.${number} came too late`);
        lastOf.set(client, Number(number));
      }
    }
  } finally {
    await scene.dispose();
  }
}
