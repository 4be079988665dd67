/** The known name that a mistyped one most likely meant, or undefined when none is close. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  const scored = known
    .map((name) => ({ name, distance: editDistance(given.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = scored[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.name.length / 3))
    ? best.name
    : undefined;
}

/** Levenshtein distance, one row at a time. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const cost = from[row - 1] === to[column - 1] ? 0 : 1;
      current.push(
        Math.min(
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (previous[column - 1] ?? 0) + cost,
        ),
      );
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
