import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openScene, type Scene } from '../harness/execution-scene.ts';
import { until } from '../harness/until.ts';

/** The token of an execution, and the address at which its container reaches the service. */

let scene: Scene;

before(async () => {
  scene = await openScene();
});

after(() => scene.dispose());

/** A static program cannot look up names, so the shell does. */
const api = [
  'name=${_svc_api_server#http://}; port=${name#*:}; name=${name%:*}',
  "ip=$(awk -v n=$name '$2 == n { print $1; exit }' /etc/hosts)",
  'call() { printf "GET $1 HTTP/1.0\r\nAuthorization: Bearer $_svc_access_token\r\n\r\n" | nc $ip $port; }',
].join('\n');

test('a container calls the service, which listens on the loopback address, with its token', async () => {
  const user = await scene.user('caller');
  const id = await user.register({
    image: scene.image.reference,
    default_environment: { RUN: `${api}\ncall /profiles/v2/me` },
  });
  const { record, log } = await user.runOnce(id);
  assert.equal(record.exitCode, 0, log);
  assert.ok(log.includes('"username":"caller"'), log);
});

test('the token acts for whoever posted the message', async () => {
  const user = await scene.user('owner');
  const id = await user.register({
    image: scene.image.reference,
    default_environment: { RUN: `${api}\necho $_svc_username; call /profiles/v2/me` },
  });
  const { log } = await scene.admin.runOnce(id);
  assert.ok(log.startsWith('admin\n'), log);
  assert.ok(log.includes('"username":"admin"'), log);
});

test('the token works while the execution runs, and is dead once it has ended', async () => {
  const { admin, service } = scene;
  // The log hides the token itself, so it is shown letter by letter.
  const id = await admin.register({
    image: scene.image.reference,
    default_environment: {
      RUN: 'echo "$_svc_access_token"; i=0; t=$_svc_access_token; while [ -n "$t" ]; do r=${t#?}; echo "<${t%"$r"}>"; t=$r; done; echo shown; trap "exit 0" TERM; while :; do sleep 0.1; done',
    },
  });
  const execution = await admin.send(id);
  const log = await until('the letters of the token', async () => {
    const text = await admin.log(id, execution);
    return text.includes('shown') ? text : undefined;
  });
  const token = [...log.matchAll(/^<(.)>$/gm)].map(([, letter]) => letter).join('');
  assert.match(token, /^rct_at_[0-9A-Za-z]{49}$/);
  assert.ok(!log.includes(token), 'the log shows the token');
  const me = () =>
    fetch(`${service.url}/profiles/v2/me`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal((await me()).status, 200);
  await admin.call('DELETE', `/${id}/executions/${execution}`);
  await admin.ended(id, execution);
  assert.equal((await me()).status, 401);
});

test('a reactor that wants no token gets none', async () => {
  const id = await scene.admin.register({
    image: scene.image.reference,
    token: false,
    default_environment: { RUN: 'echo "[$_svc_access_token]"' },
  });
  assert.equal((await scene.admin.runOnce(id)).log, '[]\n');
});
