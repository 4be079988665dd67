/** What the command line ends with. Scripts may rely on each; docs/reference/command-line.md is made from this table. */
export const exitCodes = {
  ok: { code: 0, when: 'Done.' },
  failed: { code: 1, when: 'Not done, for a reason that none of the others names.' },
  usage: { code: 2, when: 'The command line is wrong, or the service found a value wrong (400).' },
  login: { code: 3, when: 'Not logged in, or the login does not count any more (401).' },
  notFound: { code: 4, when: 'There is no such thing, or it is not yours to know of (404).' },
  forbidden: { code: 5, when: 'You are known, and not allowed (403).' },
  conflict: {
    code: 6,
    when: 'Taken, changed by somebody else, or not in the state for it (409, 412, 422).',
  },
  unavailable: {
    code: 7,
    when: 'The service was not reached, or cannot do it now (429, 502, 503, 504); trying again later helps.',
  },
  nonZero: {
    code: 8,
    when: 'The execution ended, and its container exited with another code than 0.',
  },
  notRun: {
    code: 9,
    when: 'The execution could not be run, or the image of the reactor could not be had (status ERROR).',
  },
  timePassed: {
    code: 10,
    when: 'The time given with --within has passed; what was begun goes on.',
  },
  interrupted: { code: 130, when: 'Interrupted with Ctrl-C.' },
} as const;

export type Ending = keyof typeof exitCodes;

/** Ends the command with one sentence on standard error. */
export class CommandFailure extends Error {
  readonly ending: Ending;
  /** What to do next, where there is something. */
  readonly next: string | undefined;

  constructor(ending: Ending, message: string, next?: string) {
    super(message);
    this.name = 'CommandFailure';
    this.ending = ending;
    this.next = next;
  }
}
