import type { CallOptions } from '../api.ts';
import type { Reactor } from '../generated/api.ts';
import type { Reactors } from './reactors.ts';

export interface Schedule {
  /** Null where the reactor has none. */
  readonly schedule: string | null;
  readonly on: boolean;
  /** When it comes next. */
  readonly nextTime: string | null;
}

/** When a reactor gets a message by itself. A schedule is a part of the reactor; this reads and changes that part. */
export class Schedules {
  readonly #reactors: Reactors;

  constructor(reactors: Reactors) {
    this.#reactors = reactors;
  }

  async get(reactorId: string, options?: CallOptions): Promise<Schedule> {
    return scheduleOf(await this.#reactors.get(reactorId, options));
  }

  /** A cron expression with an optional time zone, or a start and an interval: `now + 1 day`. */
  async set(reactorId: string, schedule: string, options?: CallOptions): Promise<Schedule> {
    const changes = { cronSchedule: schedule, cronOn: true };
    return scheduleOf(await this.#reactors.update(reactorId, changes, options));
  }

  /** Switches it off, or on again, and keeps it. */
  async turn(reactorId: string, on: boolean, options?: CallOptions): Promise<Schedule> {
    return scheduleOf(await this.#reactors.update(reactorId, { cronOn: on }, options));
  }

  async clear(reactorId: string, options?: CallOptions): Promise<Schedule> {
    const changes = { cronSchedule: null, cronOn: null };
    return scheduleOf(await this.#reactors.update(reactorId, changes, options));
  }
}

const scheduleOf = ({ cronSchedule, cronOn, cronNextTime }: Reactor): Schedule => ({
  schedule: cronSchedule,
  on: cronOn,
  nextTime: cronNextTime,
});
