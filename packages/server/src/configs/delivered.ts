/** What the containers of one reactor get of the configs that are linked to it. */
export interface Delivered {
  readonly values: Readonly<Record<string, string>>;
  /** Texts that must not be seen in the logs. */
  readonly secrets: readonly string[];
}

export const noConfigs: Delivered = { values: {}, secrets: [] };

/** Shorter ones stand in any text by chance: to take them out would spoil the log and tell where they are. */
const shortest = 6;
/** A line of a longer secret, such as of a private key, has to be unlike the lines of other texts. */
const shortestLine = 12;

/**
 * What of a secret is taken out of logs: the whole of it, as it is and as it stands in JSON, and each of its lines,
 * since programs put something before every line that they log.
 */
export function toHide(secret: string): readonly string[] {
  const whole = [secret, secret.trim(), JSON.stringify(secret).slice(1, -1)];
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  return [
    ...new Set([
      ...whole.filter((text) => text.length >= shortest),
      ...(lines.length > 1 ? lines.filter((line) => line.length >= shortestLine) : []),
    ]),
  ];
}
