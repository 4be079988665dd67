import assert from 'node:assert/strict';
import { mismatch, type Operation, type Schema } from './api-description.ts';
import { hushed } from './fuzz-scene.ts';

type Json = ReturnType<typeof JSON.parse>;

export interface Seen {
  readonly operation: Operation;
  /** False where the path as it was sent leads elsewhere: only what holds everywhere is asked of the reply. */
  readonly isOperation: boolean;
  readonly query: readonly (readonly [string, string])[];
  /** What the caller sent, without the proof of who it is. */
  readonly sent: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const isOAuth = (path: string) =>
  /^\/(token|revoke|introspect|device_authorization)$/.test(path) || path.startsWith('/.well');
const isPage = (path: string) => /^\/(authorize|login|logout|consent|device|account)\b/.test(path);

export function checkReply(seen: Seen): void {
  const { operation, status, headers, text } = seen;
  // Requests come one after the other: nothing is overloaded, so that not even 503 is in order.
  assert.ok(status < 500, `${status}: ${text}`);
  if (status === 429) assert.match(headers.get('retry-after') ?? '', /^\d+$/);
  // The description has examples of secrets.
  if (operation.path !== '/openapi.json') checkSecrets(seen);
  const type = headers.get('content-type') ?? '';
  if (isPage(operation.path)) return;
  if (status >= 400) {
    assert.match(type, /^application\/json/);
    checkFailure(operation.path, JSON.parse(text));
    return;
  }
  if (!seen.isOperation || type.startsWith('text/event-stream')) return;
  const described = operation.replies.get(String(status));
  assert.ok(described !== undefined, `status ${status} is not described`);
  const schema = described['application/json']?.schema;
  if (schema === undefined || isOAuth(operation.path)) return;
  assert.match(type, /^application\/json/);
  checkShape(seen, schema, JSON.parse(text));
}

function checkFailure(path: string, body: Json): void {
  if (isOAuth(path)) {
    assert.equal(typeof body.error, 'string');
    return;
  }
  assert.equal(body.status, 'error');
  assert.equal(body.result, null);
  assert.equal(typeof body.version, 'string');
  assert.ok(typeof body.message === 'string' && body.message !== '', 'it says what is wrong');
  assert.doesNotMatch(body.message, /\n\s+at |SQLITE|syntax error|node_modules|\.ts:\d/);
}

function checkShape({ query, status }: Seen, schema: Schema, body: Json): void {
  const naked = query.filter(([name]) => name === 'naked').map(([, value]) => value);
  const isEnvelope = 'result' in (schema['properties'] ?? {}) && 'version' in schema['properties'];
  const result: Schema = isEnvelope ? schema['properties'].result : schema;
  const wrapped = naked.length === 0 ? isEnvelope : /^(false|0)$/i.test(naked.at(-1) ?? '');
  if (wrapped) {
    assert.equal(body.status, 'success');
    assert.equal(typeof body.message, 'string');
    assert.equal(typeof body.version, 'string');
  }
  const problem = mismatch(result, wrapped ? body.result : body);
  assert.equal(problem, undefined, `${status} is not as described: ${problem}`);
}

/** Which secrets a reply may carry: those that it is there to hand out. */
const handsOut: readonly (readonly [RegExp, RegExp])[] = [
  [/^POST \/token$/, /^rct_(at|rt)_/],
  [/^POST \/device_authorization$/, /^rct_dc_/],
  [/^POST \/clients\/v2(\/\{clientName\}\/secret)?$/, /^rct_cs_/],
  [/\/nonces(\/\{nonceId\})?$/, /^rct_nc_/],
  [/\/webhook-secret$/, /^whsec_/],
];

const secretForms = /rct_[a-z]{2}_[0-9A-Za-z]{49}|whsec_[A-Za-z0-9+/=]{24,}|hush-[0-9a-f]{16}/g;

function checkSecrets({ operation, sent, text, headers }: Seen): void {
  const all = `${text}\n${[...headers].join('\n')}`;
  for (const [secret] of all.matchAll(secretForms)) {
    if (handsOut.some(([name, form]) => name.test(operation.name) && form.test(secret))) continue;
    if (secret.startsWith('hush-') && operation.path.startsWith('/actors/v2/configs')) {
      checkConfigs(JSON.parse(text));
      continue;
    }
    // Whoever sent it knows it; but what was sent as a secret is not sent back either.
    assert.ok(
      !secret.startsWith('hush-') && sent.includes(secret),
      `a secret in the reply: ${all.slice(0, 600)}`,
    );
  }
}

/** Plain values are shown, secret ones are not. */
function checkConfigs(body: Json): void {
  for (const config of [body.result ?? body].flat())
    if (config?.isSecret !== false) assert.doesNotMatch(JSON.stringify(config), hushed);
}

/** What the service has written in the meantime. */
export function checkLog(written: string): void {
  const secret = secretForms.exec(written);
  secretForms.lastIndex = 0;
  if (secret !== null)
    assert.fail(`in the log: ${written.slice(Math.max(0, secret.index - 300), secret.index + 80)}`);
  const failed = /^.*"level":[56]0.*$/m.exec(written);
  assert.ok(failed === null, `the service failed: ${failed?.[0].slice(0, 3000)}`);
  assert.doesNotMatch(written, /unhandled|uncaught/i);
}
