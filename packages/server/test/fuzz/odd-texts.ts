import fc from 'fast-check';
import type { Operation, Schema } from './api-description.ts';
import { type Planned, requestsOf } from './request-arbitrary.ts';

/** What one of the databases cannot keep, although it is text in JSON or in an address. */
const oddTexts = ['\0', 'a\0b'];
/** Only in JSON: an address with half a character is none. */
const oddInJson = [...oddTexts, '\ud800'];

/** A plain request, and then ones that would do, but for one field each: every field that takes text. */
export function oddRequestsTo(operation: Operation, seed: number): readonly Planned[] {
  const [sample] = fc.sample(requestsOf([operation]), { numRuns: 1, seed });
  if (sample === undefined) return [];
  const path = Object.fromEntries(
    operation.parameters
      .filter((each) => each.in === 'path')
      .map(({ name }) => [name, placeOf(operation, name)]),
  );
  const usual: Planned = { ...sample, path, query: [], headers: {}, body: undefined };
  return callers(operation).flatMap((caller) => [
    { ...usual, caller },
    ...inAddress({ ...usual, caller }),
    ...inBody({ ...usual, caller }),
  ]);
}

/** An admin is let in everywhere, but for the clients and the tokens, where a password is asked for. */
const callers = ({ path }: Operation): readonly Planned['caller'][] =>
  path.startsWith('/clients') ? ['password'] : ['admin', 'client'];

const kinds: Readonly<Record<string, string>> = {
  reactorId: 'reactor',
  executionId: 'execution',
  workerId: 'worker',
  nonceId: 'nonce',
  deliveryId: 'delivery',
};

const placeOf = ({ path }: Operation, name: string): string =>
  `‹${path.includes('/configs/') && name === 'name' ? 'config' : (kinds[name] ?? name)}:0›`;

function inAddress(usual: Planned): readonly Planned[] {
  return usual.operation.parameters.flatMap((parameter) =>
    oddTexts.flatMap((text): readonly Planned[] => {
      if (parameter.in === 'path')
        return [{ ...usual, path: { ...usual.path, [parameter.name]: text } }];
      return parameter.in === 'query' ? [{ ...usual, query: [[parameter.name, text]] }] : [];
    }),
  );
}

function inBody(usual: Planned): readonly Planned[] {
  return [...usual.operation.bodies].flatMap(([type, { schema }]) => {
    const fields: Readonly<Record<string, Schema>> = schema['properties'] ?? {};
    const required: readonly string[] = schema['required'] ?? [];
    const enough = Object.fromEntries(
      required.map((name) => [name, name === 'image' ? '127.0.0.1:1/tool' : '‹fresh:0›']),
    );
    const texts = type.includes('json') ? oddInJson : oddTexts;
    return Object.keys(fields).flatMap((name) =>
      texts.map((text) => ({ ...usual, body: { type, value: { ...enough, [name]: text } } })),
    );
  });
}
