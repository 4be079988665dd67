import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { admin, callback, registerClient } from '../harness/authorize-scene.ts';
import { authorize } from '../harness/person-visits.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

/** Debian's, which has its packages; another Python may come first in PATH. */
const python = '/usr/bin/python3';
const scriptOf = (name: string) => fileURLToPath(new URL(`python/${name}.py`, import.meta.url));

describe('OAuth clients in Python', () => {
  let service: RunningService;
  before(async () => {
    service = await startService();
  });
  after(() => service?.dispose());

  /** Runs the script to its end, opens what it asks to visit, and returns the flows that it went through. */
  const run = async (name: string): Promise<string[]> => {
    const { key, secret } = await registerClient(service);
    const script = [scriptOf(name), service.url, key, secret, callback];
    const child = spawn(python, ['-B', ...script, admin.username, admin.password], {
      env: {
        ...process.env,
        // The service under test has no TLS, and is on this machine.
        OAUTHLIB_INSECURE_TRANSPORT: '1',
        NO_PROXY: '127.0.0.1',
      },
    });
    const closed = once(child, 'close');
    let complaint = '';
    child.stderr.on('data', (chunk: Buffer) => {
      complaint += chunk.toString();
    });
    // A script that has ended early says why itself.
    child.stdin.on('error', () => {});
    const done: string[] = [];
    try {
      for await (const line of createInterface({ input: child.stdout })) {
        const [word, ...rest] = line.split(' ');
        if (word === 'DONE') done.push(rest.join(' '));
        if (word !== 'VISIT') continue;
        const [decision, address = ''] = rest;
        const back = await authorize(service, address, decision === 'deny' ? 'deny' : 'approve');
        child.stdin.write(`${back}\n`);
      }
    } finally {
      child.kill();
    }
    const [code] = await closed;
    assert.equal(code, 0, `after ${done.join(', ') || 'no flow'}: ${complaint}`);
    return done;
  };

  test('requests-oauthlib goes through its flows', async () => {
    assert.deepEqual(await run('requests_oauthlib_flows'), [
      'web_application_with_basic',
      'web_application_with_credentials_in_the_body',
      'web_application_with_basic_and_the_key_repeated_in_the_body',
      'an_expired_token_is_refreshed_by_itself',
      'denial_and_foreign_state',
      'mobile_application',
      'legacy_application',
      'backend_application',
    ]);
  });

  test('Authlib goes through its flows', async () => {
    assert.deepEqual(await run('authlib_flows'), [
      'code_flow',
      'code_flow_with_pkce',
      'foreign_state_and_used_code',
      'implicit_flow',
      'denial',
      'password_flow',
      'an_expired_token_is_refreshed_by_itself',
      'client_credentials_flow',
      'introspection_and_revocation',
    ]);
  });
});
