import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { type Sender, senderFor } from '../../packages/server/test/harness/execution-scene.ts';
import { freePort } from '../../packages/server/test/harness/free-port.ts';
import { makeRunImage, type RunImage } from '../../packages/server/test/harness/run-image.ts';
import {
  adminPassword,
  launchService,
  type RunningService,
} from '../../packages/server/test/harness/running-service.ts';
import { until } from '../../packages/server/test/harness/until.ts';
import { type RunningNginx, startNginx } from './nginx.ts';
import { root } from './run-page.ts';

const run = promisify(execFile);

/** The service behind Debian's nginx with the file of deploy/, over TLS, as in docs/guides/running-it-for-real.md. */
describe('behind nginx', () => {
  let service: Omit<RunningService, 'url'>;
  let image: RunImage;
  let admin: Sender;
  let nginx: RunningNginx;
  let httpsPort: number;
  let address: string;
  const secret = 'what you entered at GitHub';

  before(async () => {
    await run(process.execPath, ['setup/samples.ts', 'webhook'], { cwd: root });
    const servicePort = await freePort();
    httpsPort = await freePort();
    address = `https://reactors.example.org:${httpsPort}`;
    service = launchService({
      environment: {
        REACTORD_PORT: String(servicePort),
        REACTORD_BASE_URL: address,
        REACTORD_TRUST_PROXY: '127.0.0.1',
        REACTORD_PULL_POLICY: 'missing',
      },
    });
    const url = `http://127.0.0.1:${servicePort}`;
    await until('the service to be healthy', () =>
      fetch(`${url}/health`).then(
        () => true,
        () => false,
      ),
    );
    image = await makeRunImage();
    admin = await senderFor({ ...service, url }, 'admin', adminPassword);
    const reactor = await admin.register({
      image: 'reactord/webhook',
      default_environment: { WEBHOOK_SECRET: secret },
    });
    const extra = hookLocation(servicePort, await nonceFor(admin, reactor));
    nginx = await startNginx({ servicePort, httpsPort, extra });
  });
  after(async () => {
    await nginx?.stop();
    await service?.dispose();
    await image?.remove();
  });

  /** As people reach it: by its name, over TLS that is verified. */
  const curl = async (...args: readonly string[]): Promise<string> => {
    const to = `reactors.example.org:${httpsPort}:127.0.0.1`;
    const options = ['-sS', '--cacert', nginx.certificate, '--resolve', to, '--max-time', '60'];
    return (await run('curl', [...options, ...args], { maxBuffer: 2 ** 26 })).stdout;
  };
  const bearer = () => ['-H', `Authorization: Bearer ${admin.token}`];

  test('plain HTTP leads to HTTPS, and keeps the method', async () => {
    const reply = await fetch(`http://127.0.0.1:${nginx.httpPort}/token?a=b`, {
      method: 'POST',
      redirect: 'manual',
    });
    assert.equal(reply.status, 308);
    assert.match(reply.headers.get('location') ?? '', /^https:.*\/token\?a=b$/);
  });

  test('the service knows its public address, and its cookies are for HTTPS alone', async () => {
    const metadata = JSON.parse(await curl(`${address}/.well-known/oauth-authorization-server`));
    assert.equal(metadata.issuer, address);
    const headers = await curl('-D-', '-o/dev/null', `${address}/login`);
    assert.match(headers, /strict-transport-security/i);
    assert.match(headers, /set-cookie:.*Secure/i);
  });

  test('nobody can claim to call from elsewhere', async () => {
    const wrong = ['-u', 'admin:wrong password', '-H', 'X-Forwarded-For: 192.0.2.7'];
    await curl('-o/dev/null', ...wrong, `${address}/clients/v2`);
    const audit = await curl(...bearer(), `${address}/audit/v2?limit=50`);
    assert.match(audit, /127\.0\.0\.1/);
    assert.doesNotMatch(audit, /192\.0\.2\.7/);
  });

  test('the largest message passes, and what is larger is refused', async () => {
    const large = await admin.register({
      image: image.reference,
      default_environment: { RUN: 'wc -c < "$_svc_message_file"' },
    });
    const post = async (bytes: number): Promise<string> => {
      const file = join(service.data, 'large');
      writeFileSync(file, Buffer.alloc(bytes, 'x'));
      const type = ['-H', 'Content-Type: application/octet-stream', '--data-binary', `@${file}`];
      const path = `${address}/actors/v2/${large}/messages?wait=60`;
      return curl(...bearer(), ...type, '-w', ' %{http_code}', path);
    };
    assert.match(await post(64 * 2 ** 20), /^67108864\n 20\d$/);
    assert.match(await post(66 * 2 ** 20), / 413$/);
  });

  test('a log comes while it is written', async () => {
    const slow = await admin.register({
      image: image.reference,
      default_environment: { RUN: 'echo early; sleep 600' },
    });
    const execution = await admin.send(slow);
    const path = `${address}/actors/v2/${slow}/executions/${execution}`;
    const follow = run('curl', [
      ...['-sSN', '--cacert', nginx.certificate, '--max-time', '120', ...bearer()],
      ...['--resolve', `reactors.example.org:${httpsPort}:127.0.0.1`, `${path}/logs?follow=true`],
    ]);
    let seen = '';
    const { promise: early, resolve } = Promise.withResolvers<void>();
    follow.child.stdout?.on('data', (text) => {
      seen += String(text);
      if (seen.includes('early')) resolve();
    });
    await early;
    assert.equal((await admin.record(slow, execution)).status, 'RUNNING');
    await curl(...bearer(), '-X', 'DELETE', path);
    assert.match((await follow).stdout, /event: end/);
  });

  test('the location of the guide to webhooks hands the signature on', async () => {
    const body = '{"zen":"Keep it logically awesome.","repository":{"full_name":"ada/engine"}}';
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const hook = async (signed: string): Promise<string> => {
      const headers = [
        '-H',
        'Content-Type: application/json',
        '-H',
        `X-Hub-Signature-256: ${signed}`,
      ];
      const reply = JSON.parse(await curl(...headers, '-d', body, `${address}/hooks/github`));
      const { executionId, _links } = reply.result;
      const reactor = _links.self.split('/').at(-3);
      await admin.ended(reactor, executionId);
      return admin.log(reactor, executionId);
    };
    assert.equal(
      await hook(`sha256=${signature}`),
      'The signature is valid.\nPing from ada/engine: Keep it logically awesome.\n',
    );
    assert.match(await hook(`sha256=${signature.replace(/./g, '0')}`), /^Refused/);
  });
});

/** As the guide has it. */
function hookLocation(servicePort: number, nonce: string): string {
  const guide = readFileSync(join(root, 'docs/guides/github-webhook.md'), 'utf8');
  const block = /```nginx\n([^`]+)```/.exec(guide)?.[1];
  assert.ok(block, 'the guide has a block for nginx');
  return block.replace('=NONCE&', `=${nonce}&`).replace(':8080', `:${servicePort}`);
}

async function nonceFor(admin: Sender, reactor: string): Promise<string> {
  const json = (fields: object) => ({ body: JSON.stringify(fields), type: 'application/json' });
  const alias = await admin.call('POST', '/aliases', json({ alias: 'github', actor_id: reactor }));
  assert.equal(alias.status, 201, alias.text);
  const made = await admin.call('POST', '/aliases/github/nonces', json({ level: 'EXECUTE' }));
  return made.json().result.id;
}
