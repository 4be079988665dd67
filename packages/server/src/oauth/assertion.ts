import { readFile } from 'node:fs/promises';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import type { Config } from '../config.ts';
import { SettingError } from '../config-sources.ts';
import type { User } from '../identity/user.ts';
import type { Users } from '../identity/users.ts';

type AssertionSettings = Pick<
  Config,
  'assertion_keys' | 'assertion_issuer' | 'assertion_audience' | 'tenant'
>;

/** Pinned: never `none`, and never a shared secret, which would let a public key be used as one. */
const algorithms = ['EdDSA', 'ES256', 'RS256'];
const ancestorsClaim = 'http://wso2.org/claims/enduser';

interface Trusted {
  readonly keys: JWTVerifyGetKey;
  readonly issuer: string;
  readonly audience: string;
}

/** Checks the signed assertion by which a gateway in front of the service names the user (a JWT). */
export class AssertionCheck {
  /** In lower case, as Node gives header names. */
  readonly headerName: string;
  readonly #trusted: Trusted;
  readonly #users: Pick<Users, 'byUsername'>;

  private constructor(tenant: string, trusted: Trusted, users: Pick<Users, 'byUsername'>) {
    this.headerName = assertionHeader(tenant).toLowerCase();
    this.#trusted = trusted;
    this.#users = users;
  }

  /** Undefined when the operator trusts no gateway. */
  static async open(
    settings: AssertionSettings,
    users: Pick<Users, 'byUsername'>,
  ): Promise<AssertionCheck | undefined> {
    const {
      assertion_keys: from,
      assertion_issuer: issuer,
      assertion_audience: audience,
    } = settings;
    if (from === undefined) return undefined;
    if (issuer === undefined || audience === undefined) {
      throw new SettingError(
        'assertion_keys needs assertion_issuer and assertion_audience beside it: without them anything signed with these keys, for whomever, would be believed.',
      );
    }
    const keys = await readKeys(from);
    return new AssertionCheck(settings.tenant, { keys, issuer, audience }, users);
  }

  /** The active user whom a valid assertion names. */
  async userOf(assertion: string): Promise<User | undefined> {
    const username = await this.#usernameIn(assertion);
    const user = username === undefined ? undefined : await this.#users.byUsername(username);
    return user?.status === 'active' ? user : undefined;
  }

  async #usernameIn(assertion: string): Promise<string | undefined> {
    const { keys, issuer, audience } = this.#trusted;
    try {
      const { payload } = await jwtVerify(assertion, keys, {
        algorithms,
        issuer,
        audience,
        requiredClaims: ['exp'],
        clockTolerance: 5,
      });
      return nameIn(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}

export const assertionHeader = (tenant: string): string => `X-JWT-Assertion-${tenant}`;

/** The ancestor's gateway wrote `name@carbon.super`. */
function nameIn(payload: JWTPayload): string | undefined {
  const enduser = payload[ancestorsClaim];
  const name = payload.sub ?? (typeof enduser === 'string' ? enduser.split('@', 1)[0] : undefined);
  return name !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(name) ? name : undefined;
}

async function readKeys(from: string): Promise<JWTVerifyGetKey> {
  if (URL.canParse(from) && /^[a-z]+:\/\//i.test(from)) {
    const url = new URL(from);
    if (url.protocol !== 'https:')
      throw new SettingError('assertion_keys takes an https address, or the path of a file.');
    return createRemoteJWKSet(url, { timeoutDuration: 5_000 });
  }
  try {
    return createLocalJWKSet(JSON.parse(await readFile(from, 'utf8')));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingError(
      `assertion_keys: ${from} is not a readable JSON Web Key Set (${reason}).`,
    );
  }
}
