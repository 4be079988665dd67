import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createServer } from 'node:tls';
import { DockerEngine } from '../../src/engines/docker/docker-engine.ts';
import { findEngineAddress } from '../../src/engines/docker/find.ts';
import { EngineUnavailable } from '../../src/engines/engine.ts';
import { newId } from '../../src/ids.ts';
import { engineAddress, makeTestImage } from '../harness/images.ts';
import { collect, specOf } from './conformance/subject.ts';

/** An authority, and a certificate for both sides, in the files that Docker's own client reads. */
function makeCertificates(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reactord-tls-'));
  const openssl = (...args: string[]): unknown =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  writeFileSync(join(folder, 'san'), 'subjectAltName=IP:127.0.0.1');
  openssl('req', '-x509', ...key, '-subj', '/CN=ca', '-keyout', 'ca.key', '-out', 'ca.pem');
  openssl('req', ...key, '-subj', '/CN=engine', '-keyout', 'key.pem', '-out', 'request');
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'san'];
  openssl('x509', '-req', '-in', 'request', ...signed, '-out', 'cert.pem');
  return folder;
}

describe('an engine over TCP with TLS', () => {
  test('runs containers for whoever has the certificate, and is not there for others', async (t) => {
    const found = await findEngineAddress(engineAddress, process.env);
    assert.ok(found?.kind === 'unix');
    const folder = makeCertificates();
    t.after(() => rmSync(folder, { recursive: true }));
    const read = (name: string): Buffer => readFileSync(join(folder, name));
    const server = createServer(
      { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem'), requestCert: true },
      (from) => {
        const to = connect(found.path);
        from.on('error', () => to.destroy());
        to.on('error', () => from.destroy());
        from.pipe(to).pipe(from);
      },
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const listening = server.address();
    assert.ok(listening !== null && typeof listening === 'object');
    const address = `tcp://127.0.0.1:${listening.port}`;

    const image = await makeTestImage();
    const environment = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: folder };
    const owner = `reactord-test-${newId()}`;
    const engine = new DockerEngine({ address, environment, owner, network: owner });
    assert.match(await engine.ping(), new RegExp(`at ${address}$`));
    const { id } = await engine.create(specOf({ image: image.reference }, 'cat /note; exit 3'));
    await engine.handOver(id, [{ path: '/note', mode: 0o644, content: Buffer.from('hello') }]);
    const written = collect(await engine.attach(id));
    const ended = engine.ended(id);
    await engine.start(id);
    assert.equal((await written).stdout.toString(), 'hello');
    assert.equal((await ended).exitCode, 3);
    assert.equal((await collect(await engine.replay(id))).stdout.toString(), 'hello');
    await engine.removeLeftovers({});
    await engine.close();
    await image.remove();

    // One that the authority of another engine vouches for.
    const other = makeCertificates();
    t.after(() => rmSync(other, { recursive: true }));
    const stranger = new DockerEngine({
      address,
      environment: { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: other },
      owner,
    });
    await assert.rejects(stranger.ping(), EngineUnavailable);
    await stranger.close();
  });
});
