const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A length of time in words, in at most two units: "4 hours", "1 hour 30 minutes". */
export function durationInWords(seconds: number): string {
  let rest = Math.max(1, Math.ceil(seconds));
  const parts: string[] = [];
  for (const [unit, length] of units) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`);
  }
  return parts.slice(0, 2).join(' ');
}
