/** Every circle in the graph, as the way from a file back to itself; one circle for each import that closes one. */
export function findCircles(
  edges: readonly { readonly from: string; readonly to: string }[],
): readonly (readonly string[])[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of edges) targets.set(from, [...(targets.get(from) ?? []), to]);
  const circles: (readonly string[])[] = [];
  const done = new Set<string>();
  const way: string[] = [];

  const visit = (file: string): void => {
    if (done.has(file)) return;
    const seenAt = way.indexOf(file);
    if (seenAt !== -1) {
      circles.push([...way.slice(seenAt), file]);
      return;
    }
    way.push(file);
    for (const next of targets.get(file) ?? []) visit(next);
    way.pop();
    done.add(file);
  };

  for (const file of targets.keys()) visit(file);
  return circles;
}
