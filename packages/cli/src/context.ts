import type { Credentials, ReactordClient } from '@reactord/client';
import { CommandFailure } from './exit-codes.ts';
import type { Profile } from './profiles/profile.ts';
import {
  chooseProfile,
  given,
  usualServer,
  type Wanted,
  wantedFrom,
} from './profiles/profile-choice.ts';
import { ProfileFile } from './profiles/profile-file.ts';
import { Output } from './terminal/output.ts';

/** The options that every command takes. */
export interface GlobalOptions extends Wanted {
  readonly json?: boolean | undefined;
}

/** What a command works with. */
export class Context {
  readonly output: Output;
  readonly file: ProfileFile;
  readonly wanted: Wanted;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(options: GlobalOptions, environment: NodeJS.ProcessEnv) {
    this.#environment = environment;
    this.output = new Output({
      stdout: process.stdout,
      stderr: process.stderr,
      environment,
      json: options.json === true,
    });
    this.file = new ProfileFile(environment);
    this.wanted = wantedFrom(options, environment);
  }

  /** The service that is meant, whether or not anybody is logged in there. */
  get server(): string {
    const { server } = this.wanted;
    if (server !== undefined) return server;
    // What goes with a token of the environment is said there too: it must not reach the service of another login.
    if (this.#token !== undefined) return usualServer;
    return this.profile()?.profile.server ?? usualServer;
  }

  /** The access token that the environment has for this command. */
  get #token(): string | undefined {
    return this.wanted.profile === undefined ? given(this.#environment, 'TOKEN') : undefined;
  }

  profile(): { readonly name: string; readonly profile: Profile } | undefined {
    return chooseProfile(this.file.read(), this.wanted);
  }

  /** The service, as the user who is logged in sees it. */
  async client(): Promise<ReactordClient> {
    return await this.#clientAs(await this.#login());
  }

  /** The service, as anybody sees it. */
  async anyone(): Promise<ReactordClient> {
    return await this.#clientAs(undefined);
  }

  async #clientAs(auth: string | Credentials | undefined): Promise<ReactordClient> {
    const { ReactordClient } = await import('@reactord/client');
    // A person waits: a service that is not there is told of soon.
    return new ReactordClient({ baseUrl: this.server, auth, retry: { retries: 2 } });
  }

  async #login(): Promise<string | Credentials> {
    if (this.#token !== undefined) return this.#token;
    const chosen = this.profile();
    if (chosen === undefined) throw notLoggedIn(this.wanted.server);
    const { KeptLogin } = await import('./profiles/kept-login.ts');
    return new KeptLogin(this.file, chosen);
  }
}

function notLoggedIn(server: string | undefined): CommandFailure {
  const where = server === undefined ? '' : ` at ${server}`;
  const flag = server === undefined ? '' : ` --server ${server}`;
  return new CommandFailure(
    'login',
    `You are not logged in${where}.`,
    `Log in: reactord login${flag}`,
  );
}
