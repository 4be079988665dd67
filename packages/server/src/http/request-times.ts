import { Histogram } from 'prom-client';

const name = 'reactord_http_request_seconds';
const help = 'How long requests took, by route, verb and status.';
const bounds = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30];

type Label = 'route' | 'method' | 'status' | 'le';

interface Times {
  readonly labels: Readonly<Record<'route' | 'method' | 'status', string | number>>;
  /** How many fell below each bound and above the one before; the last is for those above all. */
  readonly counts: Float64Array;
  sum: number;
}

/**
 * The histogram of all requests, counted by hand: prom-client sorts and joins the labels at each observation, which
 * took longer than many a request. Read like any other metric.
 */
export class RequestTimes extends Histogram<Label> {
  /** By route, verb and status: a key put together of the three would be the dearest part of a note. */
  readonly #routes = new Map<string, Map<string, Map<number, Times>>>();
  /** Never observed: it knows what stands above the values. */
  readonly #heading = new Histogram<Label>({ name, help, registers: [] });

  constructor() {
    super({ name, help, buckets: bounds, registers: [] });
  }

  note(route: string, method: string, status: number, seconds: number): void {
    const times =
      this.#routes.get(route)?.get(method)?.get(status) ?? this.#add(route, method, status);
    let place = 0;
    while (place < bounds.length && seconds > (bounds[place] ?? 0)) place += 1;
    times.counts[place] = (times.counts[place] ?? 0) + 1;
    times.sum += seconds;
  }

  #add(route: string, method: string, status: number): Times {
    const verbs = this.#routes.get(route) ?? new Map<string, Map<number, Times>>();
    this.#routes.set(route, verbs);
    const statuses = verbs.get(method) ?? new Map<number, Times>();
    verbs.set(method, statuses);
    const counts = new Float64Array(bounds.length + 1);
    const times = { labels: { route, method, status }, counts, sum: 0 };
    statuses.set(status, times);
    return times;
  }

  override async get() {
    const values = [...this.#routes.values()]
      .flatMap((verbs) => [...verbs.values()])
      .flatMap((statuses) => [...statuses.values()])
      .flatMap(valuesOf);
    return { ...(await this.#heading.get()), values };
  }

  /** How the registry asks when it writes text. */
  getForPromString() {
    return this.get();
  }
}

function valuesOf({ labels, counts, sum }: Times) {
  let count = 0;
  const buckets = Array.from(counts, (fell, place) => {
    count += fell;
    const le = bounds[place] ?? '+Inf';
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
