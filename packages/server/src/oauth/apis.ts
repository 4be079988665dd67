import type { ApiName } from '../contract/caller.ts';

/** An API of the service, as a client subscribes to it. */
export interface Api {
  readonly name: string;
  /** The prefix of its paths, before the version. */
  readonly context: string;
  readonly version: string;
  readonly provider: string;
  readonly status: 'PUBLISHED';
}

/** Every API there is. Who is added here later is subscribed to by new clients, and by old ones when they ask. */
export type Catalogue = readonly Api[];

const published = (name: ApiName, context: string): Api => ({
  name,
  context,
  version: 'v2',
  provider: 'admin',
  status: 'PUBLISHED',
});

export const catalogue: Catalogue = [
  published('Clients', '/clients'),
  published('Profiles', '/profiles'),
  published('Actors', '/actors'),
];

/** API names are found in any case, and shown as the catalogue has them. */
export function findApi(apis: Catalogue, given: string): Api | undefined {
  return apis.find((api) => api.name.toLowerCase() === given.toLowerCase());
}
