import { type Credentials, memoryStore, OAuth, OAuthError, type Presented } from '@reactord/client';
import { CommandFailure } from '../exit-codes.ts';
import type { Profile } from './profile.ts';
import type { Chosen } from './profile-choice.ts';
import type { ProfileFile } from './profile-file.ts';

/** The client of the command line, which every service has. It has no secret. */
export const clientId = 'reactord-cli';

/** A token that is over in this time is renewed before it is used. */
const earlyMs = 60_000;

/**
 * The login of a profile. The token is renewed by itself; each renewal replaces the refresh token too, so two commands
 * must not renew the same one: whoever waited for the file finds the newer token in it, and takes that.
 */
export class KeptLogin implements Credentials {
  readonly #file: ProfileFile;
  readonly #name: string;
  #profile: Profile;
  #renewing: Promise<void> | undefined;

  constructor(file: ProfileFile, { name, profile }: Chosen) {
    this.#file = file;
    this.#name = name;
    this.#profile = profile;
  }

  async present(): Promise<Presented> {
    const { expiresAt = Number.POSITIVE_INFINITY, refreshToken } = this.#profile;
    if (refreshToken !== undefined && expiresAt - earlyMs < Date.now()) await this.#renew();
    return this.#presented();
  }

  /** Whether there is a newer token to try with. */
  async renew(refused: Presented): Promise<boolean> {
    if (refused.authorization !== this.#presented().authorization) return true;
    if (this.#profile.refreshToken === undefined) return false;
    await this.#renew();
    return true;
  }

  #presented(): Presented {
    return { authorization: `Bearer ${this.#profile.accessToken}` };
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#renewNow().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewNow(): Promise<void> {
    await this.#file.change(async (now) => {
      const kept = now.profiles[this.#name];
      if (kept === undefined) throw ended(this.#profile.server);
      const isNewer = kept.accessToken !== this.#profile.accessToken;
      this.#profile = isNewer ? kept : await renewed(kept);
      return isNewer ? now : { ...now, profiles: { ...now.profiles, [this.#name]: this.#profile } };
    });
  }
}

async function renewed(profile: Profile): Promise<Profile> {
  const { server, accessToken, refreshToken, expiresAt = 0 } = profile;
  const store = memoryStore({ accessToken, refreshToken, expiresAt, obtainedAt: 0 });
  try {
    // Others wait for the file meanwhile.
    const token = await new OAuth({
      baseUrl: server,
      clientId,
      store,
      retry: { retries: 1 },
      timeoutMs: 15_000,
    }).refresh();
    return {
      ...profile,
      accessToken: token.accessToken,
      refreshToken: token.refreshToken,
      expiresAt: token.expiresAt,
    };
  } catch (error) {
    if (error instanceof OAuthError) throw ended(server);
    throw error;
  }
}

const ended = (server: string): CommandFailure =>
  new CommandFailure(
    'login',
    `Your login at ${server} has ended.`,
    `Log in again: reactord login --server ${server}`,
  );
