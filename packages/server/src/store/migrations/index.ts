import { users } from './0001-users.ts';
import { authorization } from './0002-authorization.ts';
import { reactors } from './0003-reactors.ts';
import { stateAndResults } from './0004-state-and-results.ts';
import { sharing } from './0005-sharing.ts';
import { delivery } from './0006-delivery.ts';
import { eventsAndSchedules } from './0007-events-and-schedules.ts';
import { idleReactors } from './0008-idle-reactors.ts';
import type { Migration } from './migration.ts';

/** All steps of the schema, in order. */
export const migrations: readonly Migration[] = [
  users,
  authorization,
  reactors,
  stateAndResults,
  sharing,
  delivery,
  eventsAndSchedules,
  idleReactors,
];
