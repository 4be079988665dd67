/** A command cannot do what it was asked to; the sentence says why. */
export class CommandError extends Error {}

/** The command line is wrong. */
export class UsageError extends CommandError {}
