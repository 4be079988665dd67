/** The only scope there is. */
export const onlyScope = 'PRODUCTION';

/** The scope in its stored form, or undefined when it names anything but PRODUCTION. Repeats do not matter. */
export function readScope(names: readonly string[]): string | undefined {
  return names.length > 0 && names.every((name) => name === onlyScope) ? onlyScope : undefined;
}
