import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { readConfig } from '../../src/config-sources.ts';
import type { Spare } from '../../src/engines/engine.ts';
import { type Execution, executionFrom } from '../../src/executions/execution.ts';
import { SpareNeeds } from '../../src/executions/spare-needs.ts';
import { Spares } from '../../src/executions/spares.ts';
import { newId } from '../../src/ids.ts';
import type { Reactor } from '../../src/reactors/reactor.ts';
import { reactorFrom, selectReactors } from '../../src/reactors/reactor-rows.ts';
import type { ReactorsTable } from '../../src/store/reactor-tables.ts';
import { once } from '../../src/store/statement.ts';
import { quiet } from '../harness/beside-service.ts';
import { openOwnStore } from '../harness/own-store.ts';
import { until } from '../harness/until.ts';
import { addExecution, addReactor } from './reactor-rows.ts';

/** Which spares are made and which go, with an engine that makes them out of nothing. */

const minute = 60_000;

describe('how many spares a reactor needs', () => {
  const reactor = (warm: number | null = null) => ({ id: 'r', warm });

  test('one, when two messages came within the limit, until none has come for as long', () => {
    const needs = new SpareNeeds(60);
    assert.equal(needs.wanted(reactor(), 0), 0);
    needs.noteUse('r', 1_000);
    assert.equal(needs.wanted(reactor(), 1_001), 0);
    needs.noteUse('r', 1_000 + minute);
    assert.equal(needs.wanted(reactor(), 1_001 + minute), 1);
    assert.equal(needs.wanted(reactor(), 999 + 2 * minute), 1);
    assert.equal(needs.wanted(reactor(), 1_000 + 2 * minute), 0);
    // Rare messages are not worth one.
    needs.noteUse('r', 5 * minute);
    assert.equal(needs.wanted(reactor(), 5 * minute), 0);
  });

  test('none with warm 0, and as many as it says otherwise', () => {
    const needs = new SpareNeeds(60);
    needs.noteUse('r', 0);
    needs.noteUse('r', 1);
    assert.equal(needs.wanted(reactor(0), 2), 0);
    assert.equal(needs.wanted(reactor(3), 2), 3);
    assert.equal(needs.wanted(reactor(3), 10 * minute), 3);
  });

  test('those that were not used lately are forgotten', () => {
    const needs = new SpareNeeds(60);
    for (let at = 0; at < 1000; at++) needs.noteUse(`r${at}`, at);
    assert.equal(needs.candidates(900)[0], 'r999');
    assert.equal(needs.candidates(500 + minute).length, 500);
    assert.deepEqual(needs.candidates(2 * minute), []);
  });
});

describe('keeping spares', () => {
  const open = async (t: TestContext, given: Readonly<Record<string, string>> = {}) => {
    const { store, user, close } = await openOwnStore();
    const config = readConfig({
      flags: [],
      environment: { REACTORD_SPARE_IDLE_LIMIT: '1d', ...given },
    });
    /** By the name of the reactor's image: what the engine has of it. */
    const there = new Map<string, { readonly of: string; usable: boolean }>();
    const wanted: string[] = [];
    let underWay = 0;
    let making: (spec: { readonly name: string }) => Promise<boolean> = async () => true;
    const byId = async (id: string): Promise<Reactor | undefined> => {
      const row = await selectReactors(store.read).where('reactors.id', '=', id).executeTakeFirst();
      return row && reactorFrom(row);
    };
    const spares = new Spares({
      store,
      reactors: { byId },
      instance: 'here',
      config,
      underWay: () => underWay,
      log: quiet,
      engine: {
        spare: async ({ name, image }): Promise<Spare | undefined> => {
          wanted.push(image);
          if (!(await making({ name }))) return undefined;
          const one = { of: image, usable: true };
          there.set(name, one);
          return {
            id: name,
            isUsable: () => one.usable,
            begin: () => Promise.reject(new Error('not here')),
          };
        },
        remove: async (id) => {
          there.delete(id);
        },
      },
    });
    t.after(async () => {
      await spares.stop();
      await close();
    });
    const change = (id: string, set: Partial<Pick<ReactorsTable, 'mem_limit' | 'status'>>) =>
      store.write(once((db) => db.updateTable('reactors').set(set).where('id', '=', id)));
    const reactor = async (id: string, warm: number | null = null): Promise<Reactor> => {
      await addReactor(store, id, user.id);
      await store.write(
        once((db) => db.updateTable('reactors').set({ warm, image_id: id }).where('id', '=', id)),
      );
      const found = await byId(id);
      if (found === undefined) throw new Error('it is not there');
      return found;
    };
    const executionIn = async (reactorId: string, spare: string): Promise<Execution> => {
      const id = newId();
      const seq = Math.floor(Math.random() * 1e9);
      await addExecution(store, {
        id,
        reactorId,
        ownerId: user.id,
        seq,
        status: 'SUBMITTED',
        finishedAt: null,
      });
      const row = store.read.selectFrom('executions').selectAll().where('id', '=', id);
      return { ...executionFrom(await row.executeTakeFirstOrThrow()), spare };
    };
    const has = (id: string): number => [...there.values()].filter(({ of }) => of === id).length;
    return {
      spares,
      there,
      wanted,
      change,
      reactor,
      executionIn,
      has,
      settled: (id: string, count: number) =>
        until(`${count} spares of ${id}`, () => has(id) === count),
      beBusy: (id: string) => {
        spares.used(id);
        spares.used(id);
      },
      setUnderWay: (count: number) => {
        underWay = count;
      },
      onMaking: (wait: typeof making) => {
        making = wait;
      },
    };
  };

  test('each is for one claim, and one that won nothing is there for the next', async (t) => {
    const { spares, reactor, settled, executionIn, there } = await open(t);
    const one = await reactor('one', 2);
    spares.start();
    await settled('one', 2);
    const [first, second] = [spares.take(one), spares.take(one)];
    assert.ok(first && second && first !== second);
    assert.equal(spares.take(one), undefined);
    spares.claimed(second, undefined, true);
    assert.equal(spares.take(one), second);
    // Whether it was claimed with this one nobody knows.
    spares.claimed(second, undefined, false);
    await until('it to be gone', () => !there.has(second.name));
    const execution = await executionIn('one', first.name);
    spares.claimed(first, execution, true);
    assert.equal((await spares.collect(execution, one))?.spare.id, first.name);
    assert.equal(await spares.collect(execution, one), undefined);
    assert.equal(spares.has(first.name), true);
    spares.done(execution);
    assert.equal(spares.has(first.name), false);
    // Whoever collected it removes it.
    assert.equal(there.has(first.name), true);
  });

  test('a claim that is given back, or whose reactor has changed, gives up its spare', async (t) => {
    const { spares, reactor, settled, executionIn, there, change } = await open(t);
    const one = await reactor('one', 1);
    spares.start();
    await settled('one', 1);
    const kept = spares.take(one);
    assert.ok(kept);
    const execution = await executionIn('one', kept.name);
    spares.claimed(kept, execution, true);
    spares.done(execution);
    await until('it to be gone', () => !there.has(kept.name));
    await spares.look();
    await settled('one', 1);
    const next = spares.take(one);
    assert.ok(next);
    const later = await executionIn('one', next.name);
    spares.claimed(next, later, true);
    await change('one', { mem_limit: 2 ** 25 });
    assert.equal(await spares.collect(later, { ...one, memoryBytes: 2 ** 25 }), undefined);
    await until('it to be gone', () => !there.has(next.name));
  });

  test('what is being made can be claimed, and a failure is found out then', async (t) => {
    const { spares, reactor, executionIn, onMaking, wanted } = await open(t);
    const one = await reactor('one', 1);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    onMaking(() => promise);
    spares.start();
    const kept = await until('one to be made', () => spares.take(one));
    const execution = await executionIn('one', kept.name);
    spares.claimed(kept, execution, true);
    resolve(false);
    assert.equal(await spares.collect(execution, one), undefined);
    spares.done(execution);
    await spares.look();
    await spares.look();
    // It is left alone for a while.
    assert.deepEqual(wanted, ['one']);
  });

  test('none is made while somebody waits for a container of their own, and then one after the other', async (t) => {
    const { spares, reactor, settled, onMaking, wanted } = await open(t);
    await reactor('one', 2);
    let atOnce = 0;
    let most = 0;
    onMaking(async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setTimeout(resolve, 5));
      atOnce -= 1;
      return true;
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    const cold = spares.whileCold(() => promise);
    spares.start();
    await spares.look();
    await spares.look();
    assert.deepEqual(wanted, []);
    resolve();
    await cold;
    await settled('one', 2);
    assert.equal(most, 1);
  });

  test('those of the reactor that was not used for longest go, and not one that was used a moment ago', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const { spares, reactor, settled, beBusy, has, setUnderWay } = await open(t, {
      REACTORD_SPARE_CONTAINERS: '2',
      REACTORD_CONTAINERS_AT_ONCE: '4',
    });
    for (const id of ['one', 'two', 'three']) await reactor(id);
    spares.start();
    beBusy('one');
    await settled('one', 1);
    t.mock.timers.tick(5_000);
    beBusy('two');
    await settled('two', 1);
    beBusy('three');
    await spares.look();
    assert.deepEqual([has('one'), has('two'), has('three')], [1, 1, 0]);
    t.mock.timers.tick(6_000);
    beBusy('three');
    await settled('three', 1);
    assert.deepEqual([has('one'), has('two')], [0, 1]);
    setUnderWay(3);
    await spares.look();
    await settled('two', 0);
    assert.equal(has('three'), 1);
    setUnderWay(4);
    await spares.look();
    await settled('three', 0);
  });

  test('those that are of no use any more are replaced, and those of a reactor that goes are removed', async (t) => {
    const { spares, reactor, settled, there, change, has } = await open(t);
    await reactor('one', 1);
    await reactor('two', 1);
    spares.start();
    await settled('one', 1);
    await settled('two', 1);
    const [name, one] = [...there].find(([, { of }]) => of === 'one') ?? [];
    if (one) one.usable = false;
    await spares.look();
    await until('it to be gone', () => !there.has(name ?? ''));
    await settled('one', 1);
    await change('one', { status: 'SHUTTING_DOWN' });
    await spares.look();
    await settled('one', 0);
    await spares.dropOf('two');
    assert.equal(has('two'), 0);
    await spares.stop();
    assert.equal(there.size, 0);
  });

  test('without any there are none', async (t) => {
    const { spares, reactor, beBusy, wanted } = await open(t, { REACTORD_SPARE_CONTAINERS: '0' });
    const one = await reactor('one', 3);
    spares.start();
    beBusy('one');
    await spares.look();
    assert.equal(spares.take(one), undefined);
    assert.deepEqual(wanted, []);
  });
});
