/** What one check found, and what to do about it. */
export interface Finding {
  readonly check: string;
  /** `warning`: it works, and somebody should look at it. */
  readonly state: 'ok' | 'warning' | 'wrong';
  /** One sentence. */
  readonly found: string;
  /** One sentence; empty when there is nothing to do. */
  readonly todo: string;
}

export const well = (check: string, found: string): Finding => ({
  check,
  state: 'ok',
  found,
  todo: '',
});

export const worrying = (check: string, found: string, todo: string): Finding => ({
  check,
  state: 'warning',
  found,
  todo,
});

export const wrong = (check: string, found: string, todo: string): Finding => ({
  check,
  state: 'wrong',
  found,
  todo,
});

export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message || error.name : String(error);
};
