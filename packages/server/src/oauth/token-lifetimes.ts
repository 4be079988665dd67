import type { Config } from '../config.ts';
import type { Flow } from '../contract/caller.ts';

/** The settings that say how long tokens live, in seconds. */
export type LifetimeSettings = Pick<
  Config,
  | 'code_token_lifetime'
  | 'implicit_token_lifetime'
  | 'password_token_lifetime'
  | 'client_token_lifetime'
  | 'refresh_lifetime'
  | 'refresh_idle_limit'
>;

/** Flows whose tokens come from the token endpoint or from /authorize. */
export type GrantedFlow = Exclude<Flow, 'execution'>;

/** `expires_in`: always the configured number, never what is left of it. */
export function accessTokenSeconds(settings: LifetimeSettings, flow: GrantedFlow): number {
  switch (flow) {
    case 'authorization_code':
    case 'device':
      return settings.code_token_lifetime;
    case 'implicit':
      return settings.implicit_token_lifetime;
    case 'password':
      return settings.password_token_lifetime;
    case 'client_credentials':
      return settings.client_token_lifetime;
  }
}

/** When a refresh token ends if nobody uses it again; null: never. */
export function refreshTokenEnd(
  settings: LifetimeSettings,
  familyBegan: number,
  lastUse: number,
): number | null {
  const ends: number[] = [];
  if (settings.refresh_lifetime > 0) ends.push(familyBegan + settings.refresh_lifetime * 1000);
  if (settings.refresh_idle_limit > 0) ends.push(lastUse + settings.refresh_idle_limit * 1000);
  return ends.length === 0 ? null : Math.min(...ends);
}
