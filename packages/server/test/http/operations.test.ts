import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { logged } from '../harness/logged.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

describe('what an operator looks at', () => {
  let service: RunningService;
  before(async () => {
    service = await startService();
  });
  after(() => service.dispose());

  test('/ready names the store and the engine', async () => {
    const reply = await fetch(`${service.url}/ready?naked=true`);
    const parts = JSON.parse(await reply.text());
    assert.equal(reply.status, 200);
    assert.deepEqual(parts.store, { ok: true, message: 'sqlite answers' });
    assert.equal(parts.engine.ok, true);
    assert.match(parts.engine.message, /^(Docker|Podman) \S+ at (unix|tcp):\/\//);
  });

  test('without an engine the service starts, serves, and says in one sentence what is missing', async (t) => {
    const lonely = await startService({
      environment: { REACTORD_ENGINE: 'unix:///nonexistent/engine.sock' },
    });
    t.after(lonely.dispose);
    const reply = await fetch(`${lonely.url}/ready`);
    const body = JSON.parse(await reply.text());
    assert.equal(reply.status, 503);
    assert.equal(body.status, 'error');
    assert.equal(body.result.store.ok, true);
    assert.equal(body.result.engine.ok, false);
    assert.match(
      body.message,
      /The container engine at unix:\/\/\/nonexistent\/engine\.sock does not answer .*: start it, or set DOCKER_HOST/,
    );
    await logged(lonely, /Reactors cannot run yet\. The container engine at/);
  });

  test('/metrics speaks Prometheus and counts by route, not by address', async () => {
    await fetch(`${service.url}/nowhere/123`);
    await fetch(`${service.url}/health`);
    const reply = await fetch(`${service.url}/metrics`);
    const text = await reply.text();
    assert.match(reply.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(text, /reactord_build_info\{version="[^"]+"\} 1/);
    assert.match(
      text,
      /reactord_http_request_seconds_count\{route="\/health",method="GET",status="200"\} \d+/,
    );
    assert.match(text, /reactord_store_commit_seconds_count \d+/);
    assert.doesNotMatch(text, /nowhere/);
  });

  test('/openapi.json is OpenAPI 3.1 and lists the operations with this service as server', async () => {
    const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
    assert.match(document.openapi, /^3\.1\./);
    assert.equal(document.servers[0].url, service.url);
    for (const path of ['/health', '/ready', '/metrics', '/openapi.json'])
      assert.ok(document.paths[path]?.get, path);
    const ready = document.paths['/ready'].get.responses['200'].content['application/json'].schema;
    assert.equal(ready.properties.result.$ref, '#/components/schemas/Readiness');
    assert.ok(document.components.schemas.Readiness);
  });

  test('/docs is served from here alone', async () => {
    const page = await fetch(`${service.url}/docs`);
    assert.equal(page.status, 200);
    const html = await page.text();
    const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    assert.ok(sources.length > 0);
    for (const source of sources) {
      assert.doesNotMatch(source, /^(https?:)?\/\//, source);
      assert.equal((await fetch(new URL(source, `${service.url}/docs/`))).status, 200, source);
    }
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /default-src 'none'; script-src 'self';/,
    );
  });
});
