import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { addUser } from '../harness/beside-service.ts';
import { type RunningService, startService } from '../harness/running-service.ts';

const header = 'X-JWT-Assertion-DEV-SANDBOX';

describe("a gateway's signed assertion", () => {
  let service: RunningService;
  const folder = mkdtempSync(join(tmpdir(), 'reactord-keys-'));
  const keys = new Map<string, { privateKey: CryptoKey; publicKey: CryptoKey }>();
  before(async () => {
    const published = [];
    for (const alg of ['EdDSA', 'ES256', 'RS256']) {
      const pair = await generateKeyPair(alg, { extractable: true });
      keys.set(alg, pair);
      published.push({ ...(await exportJWK(pair.publicKey)), kid: alg, alg, use: 'sig' });
    }
    const file = join(folder, 'jwks.json');
    writeFileSync(file, JSON.stringify({ keys: published }));
    service = await startService({
      environment: {
        REACTORD_TENANT: 'DEV-SANDBOX',
        REACTORD_ASSERTION_KEYS: file,
        REACTORD_ASSERTION_ISSUER: 'wso2.org/products/am',
        REACTORD_ASSERTION_AUDIENCE: 'reactord',
      },
    });
    await addUser(service, { username: 'ada', password: 'her own long password' });
  });
  after(async () => {
    await service.dispose();
    rmSync(folder, { recursive: true });
  });

  const keyOf = (alg: string) => {
    const pair = keys.get(alg);
    assert.ok(pair);
    return pair;
  };
  const good = (): JWTPayload => ({
    sub: 'ada',
    iss: 'wso2.org/products/am',
    aud: 'reactord',
    exp: Math.floor(Date.now() / 1000) + 60,
  });
  const signed = (claims: JWTPayload, alg = 'EdDSA', kid = alg) =>
    new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(keyOf(alg).privateKey);
  const call = async (assertion: string, more: Record<string, string> = {}) => {
    const reply = await fetch(`${service.url}/profiles/v2/me`, {
      headers: { [header]: assertion, ...more },
    });
    const text = await reply.text();
    return { status: reply.status, text, json: () => JSON.parse(text) };
  };
  const assertRefused = async (assertion: string) => {
    const reply = await call(assertion);
    assert.equal(reply.status, 401, reply.text);
    assert.equal(reply.json().fault.code, 900904);
  };

  for (const alg of ['EdDSA', 'ES256', 'RS256']) {
    test(`signed with ${alg} it speaks for the user that sub names`, async () => {
      const reply = await call(await signed(good(), alg));
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.json().username, 'ada');
    });
  }

  test("the ancestor's claim is read up to the @", async () => {
    const { sub: _, ...claims } = good();
    const assertion = await signed({
      ...claims,
      'http://wso2.org/claims/enduser': 'ada@carbon.super',
    });
    assert.equal((await call(assertion)).json().username, 'ada');
  });

  const { exp: _exp, ...endless } = good();
  const { aud: _aud, ...forAnyone } = good();
  for (const [what, claims] of [
    ['another issuer', { ...good(), iss: 'someone else' }],
    ['another audience', { ...good(), aud: 'another service' }],
    ['no audience', forAnyone],
    ['an end in the past', { ...good(), exp: Math.floor(Date.now() / 1000) - 60 }],
    ['no end', endless],
    ['an unknown user', { ...good(), sub: 'nobody' }],
    ['a name that no user can have', { ...good(), sub: 'a\u0000b' }],
    ['no user', { ...good(), sub: '' }],
  ] as const) {
    test(`${what} is refused`, async () => assertRefused(await signed(claims)));
  }

  test('no signature (alg none) is refused', async () => {
    await assertRefused(new UnsecuredJWT(good()).encode());
  });

  test('an HMAC with the public key as secret is refused', async () => {
    for (const secret of [
      await exportSPKI(keyOf('RS256').publicKey),
      JSON.stringify(await exportJWK(keyOf('RS256').publicKey)),
    ]) {
      const forged = await new SignJWT(good())
        .setProtectedHeader({ alg: 'HS256', kid: 'RS256' })
        .sign(new TextEncoder().encode(secret));
      await assertRefused(forged);
    }
  });

  test("a stranger's key is refused, whatever kid it claims", async () => {
    const stranger = await generateKeyPair('EdDSA');
    for (const kid of ['EdDSA', 'unknown']) {
      const forged = await new SignJWT(good())
        .setProtectedHeader({ alg: 'EdDSA', kid })
        .sign(stranger.privateKey);
      await assertRefused(forged);
    }
  });

  test('a changed payload is refused, and nonsense too', async () => {
    const [head, , signature] = (await signed(good())).split('.');
    const payload = Buffer.from(JSON.stringify({ ...good(), sub: 'admin' })).toString('base64url');
    await assertRefused(`${head}.${payload}.${signature}`);
    await assertRefused('nonsense');
  });

  test('a bad Bearer token is not mended by an assertion', async () => {
    const reply = await call(await signed(good()), { authorization: 'Bearer nonsense' });
    assert.equal(reply.status, 401);
  });

  test('without configured keys the header means nothing', async (t) => {
    const plain = await startService({ environment: { REACTORD_TENANT: 'DEV-SANDBOX' } });
    t.after(plain.dispose);
    const reply = await fetch(`${plain.url}/profiles/v2/me`, {
      headers: { [header]: await signed({ ...good(), sub: 'admin' }) },
    });
    assert.equal(reply.status, 401);
    assert.equal(JSON.parse(await reply.text()).fault.code, 900902);
  });
});
