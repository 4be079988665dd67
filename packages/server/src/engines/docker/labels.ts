/**
 * How the driver finds again what it made. `owner` is unique to one service process at a time: it is the prefix of all
 * names, so that two services on one engine never touch each other's containers. They share the network.
 */
export const ownerLabel = 'reactord.engine.owner';
export const roleLabel = 'reactord.engine.role';
export const groupLabel = 'reactord.engine.group';
/** Bytes that the network place had counted before the container got it. */
export const networkBeforeLabel = 'reactord.engine.network-before';

/** On a container that waits for its environment before its program begins. */
export const spareLabel = 'reactord.engine.spare';

type Role = 'container' | 'holder';

export type Labels = Readonly<Record<string, string>>;

export function ownLabels(owner: string, role: Role): Labels {
  return { [ownerLabel]: owner, [roleLabel]: role };
}

/** The `filters` parameter for things that carry all of these labels. */
export function labelFilter(labels: Labels): string {
  return JSON.stringify({
    label: Object.entries(labels).map(([name, value]) => `${name}=${value}`),
  });
}
