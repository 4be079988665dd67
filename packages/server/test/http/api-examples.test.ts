import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Operation, readDescription } from '../fuzz/api-description.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

/** What readers of the description, and those who try it at /docs, find at every operation. */

let service: RunningService;
let operations: readonly Operation[];
before(async () => {
  service = await startService();
  operations = await readDescription(service.url);
});
after(() => service.dispose());

/** Pages are for people, who see them. */
const isPage = ({ path }: Operation) =>
  /^\/(authorize|login|logout|consent|device|account)(\/|$)/.test(path);

const hasExample = (content: object): boolean => 'example' in content || 'examples' in content;

test('every body has an example', () => {
  for (const { name, bodies } of operations)
    for (const [type, body] of bodies) assert.ok(hasExample(body), `${name}: ${type}`);
  for (const path of ['messages', 'executions/{executionId}/results']) {
    const posting = operations.find(({ name }) => name === `POST /actors/v2/{reactorId}/${path}`);
    assert.ok(posting !== undefined && posting.bodies.size > 0, path);
  }
});

test('every reply that is a success has an example', () => {
  for (const operation of operations.filter((each) => !isPage(each))) {
    const successes = [...operation.replies].filter(([status]) => status.startsWith('2'));
    assert.ok(successes.length > 0, operation.name);
    for (const [status, content] of successes) {
      assert.ok(Object.keys(content).length > 0, `${operation.name}: ${status} has no content`);
      for (const described of Object.values(content))
        assert.ok(hasExample(described), `${operation.name}: ${status}`);
    }
  }
});

test('every parameter says what it is for', () => {
  for (const { name, parameters } of operations)
    for (const parameter of parameters)
      assert.ok(
        parameter.description ?? parameter.schema['description'],
        `${name}: ${parameter.in} ${parameter.name}`,
      );
});
