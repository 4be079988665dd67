import { CommandFailure } from '../exit-codes.ts';
import { type Profile, type Profiles, serverAddress } from './profile.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the user said about where and who. */
export interface Wanted {
  readonly server?: string | undefined;
  readonly profile?: string | undefined;
}

export interface Chosen {
  readonly name: string;
  readonly profile: Profile;
}

/** Where the service of this machine listens unless its operator says otherwise. */
export const usualServer = 'http://127.0.0.1:8080';

/** Flags win over the environment. */
export function wantedFrom(flags: Wanted, environment: Environment): Wanted {
  const profile =
    flags.profile ?? (flags.server === undefined ? given(environment, 'PROFILE') : undefined);
  const server = flags.server ?? (profile === undefined ? given(environment, 'SERVER') : undefined);
  return { profile, server: server === undefined ? undefined : readServer(server) };
}

/** An empty variable is how many tools write "not set". */
export const given = (environment: Environment, name: string): string | undefined =>
  environment[`REACTORD_${name}`] || undefined;

function readServer(text: string): string {
  const address = serverAddress(text);
  if (address !== undefined) return address;
  throw new CommandFailure(
    'usage',
    `${JSON.stringify(text)} is not the address of a service.`,
    'It looks like https://reactors.example.org.',
  );
}

/** The profile that is meant; undefined when nobody is logged in there. */
export function chooseProfile({ current, profiles }: Profiles, wanted: Wanted): Chosen | undefined {
  const { profile: name, server } = wanted;
  if (name !== undefined) {
    const profile = profiles[name];
    if (profile === undefined) throw noProfile(name, profiles);
    // A token goes to the service that gave it, and to no other.
    if (server !== undefined && server !== profile.server)
      throw new CommandFailure(
        'usage',
        `The profile ${name} is for ${profile.server}, not for ${server}.`,
      );
    return { name, profile };
  }
  const entries = Object.entries(profiles);
  const fits = entries.filter(([, one]) => server === undefined || one.server === server);
  // The current one first, where it fits.
  const found =
    fits.find(([each]) => each === current) ?? (server === undefined ? undefined : fits[0]);
  return found === undefined ? undefined : { name: found[0], profile: found[1] };
}

function noProfile(name: string, profiles: Profiles['profiles']): CommandFailure {
  const known = Object.keys(profiles);
  return new CommandFailure(
    'login',
    `There is no profile ${JSON.stringify(name)}${known.length === 0 ? '' : `; there are ${known.join(', ')}`}.`,
    `Log in: reactord login --profile ${name} --server ADDRESS`,
  );
}
