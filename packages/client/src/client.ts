import { Api } from './api.ts';
import { Aliases } from './areas/aliases.ts';
import { Audit } from './areas/audit.ts';
import { Clients, Subscriptions } from './areas/clients.ts';
import { Configs } from './areas/configs.ts';
import { DeadLetters } from './areas/dead-letters.ts';
import { Deliveries } from './areas/deliveries.ts';
import { Events } from './areas/events.ts';
import { Executions } from './areas/executions.ts';
import { Reactors } from './areas/reactors.ts';
import { Results } from './areas/results.ts';
import { Schedules } from './areas/schedules.ts';
import { Search } from './areas/search.ts';
import { Service } from './areas/service.ts';
import { Nonces, Permissions } from './areas/sharing.ts';
import { States } from './areas/states.ts';
import { Users } from './areas/users.ts';
import { Workers } from './areas/workers.ts';
import { Transport, type TransportOptions } from './http/transport.ts';
import { bearer, type Credentials, nobody } from './tokens/credentials.ts';

export interface ClientOptions extends TransportOptions {
  /** Who calls: an access token, an `OAuth`, `basic(…)` or `nonce(…)`. Without it, only what is open to everyone. */
  readonly auth?: string | Credentials | undefined;
}

/** A reactord service, as one caller sees it. */
export class ReactordClient {
  readonly baseUrl: string;
  readonly reactors: Reactors;
  readonly executions: Executions;
  readonly results: Results;
  readonly states: States;
  readonly schedules: Schedules;
  readonly aliases: Aliases;
  readonly nonces: Nonces;
  readonly permissions: Permissions;
  readonly configs: Configs;
  readonly workers: Workers;
  readonly deadLetters: DeadLetters;
  readonly deliveries: Deliveries;
  readonly events: Events;
  readonly search: Search;
  readonly users: Users;
  readonly clients: Clients;
  readonly subscriptions: Subscriptions;
  readonly audit: Audit;
  readonly service: Service;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
    const transport = new Transport(options, credentialsOf(options.auth));
    const api = new Api(transport);
    this.baseUrl = transport.baseUrl;
    this.reactors = new Reactors(api);
    this.executions = new Executions(api);
    this.results = new Results(api);
    this.states = new States(api);
    this.schedules = new Schedules(this.reactors);
    this.aliases = new Aliases(api);
    this.nonces = new Nonces(api);
    this.permissions = new Permissions(api);
    this.configs = new Configs(api);
    this.workers = new Workers(api);
    this.deadLetters = new DeadLetters(api);
    this.deliveries = new Deliveries(api);
    this.events = new Events(api);
    this.search = new Search(api);
    this.users = new Users(api);
    this.clients = new Clients(api);
    this.subscriptions = new Subscriptions(api);
    this.audit = new Audit(api);
    this.service = new Service(api);
  }

  /** The same service, called by somebody else. */
  as(auth: string | Credentials): ReactordClient {
    return new ReactordClient({ ...this.#options, auth });
  }
}

const credentialsOf = (auth: string | Credentials | undefined): Credentials =>
  typeof auth === 'string' ? bearer(auth) : (auth ?? nobody);
