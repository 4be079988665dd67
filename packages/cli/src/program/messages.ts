import type { Command } from 'commander';
import { does } from '../run.ts';
import { pairs, seconds, wholeNumber } from './values.ts';

export function defineMessages(program: Command): void {
  does(
    program
      .command('send')
      .summary('send a message, which runs the reactor once')
      .description(
        'Sends the words given, or a file, or standard input. Prints the id of the execution; with --wait its result or its log, with --follow its log as it is written. A message of several words needs no quotes.',
      )
      .argument('<reactor>')
      .argument('[message...]', 'text; - or nothing reads standard input')
      .option('--file <path>', 'send this file; .json as JSON, text as text, the rest as bytes')
      .option('--as-json', 'the message is JSON')
      .option('--as-bytes', 'deliver it as bytes, whatever it looks like')
      .option('-e, --env <name=value>', 'a variable of this execution; may be repeated', pairs)
      .option('--delay <duration>', 'run it later, such as 30s or 2h', seconds)
      .option('--wait', 'wait for its end, and print its result or else its log')
      .option('--within <duration>', 'with --wait: no longer than this', seconds)
      .option('-f, --follow', 'follow its log until its end')
      .option(
        '--batch <file>',
        'send each line of this NDJSON file as a message (- is standard input)',
      )
      .option('--key <text>', 'an idempotency key: the same key again sends nothing again'),
    async () => (await import('../actions/send.ts')).send,
  );
  const executions = program
    .command('executions')
    .summary('what has run, runs and waits')
    .description('Without a command: list.');
  does(
    executions
      .command('list', { isDefault: true })
      .summary('the executions of a reactor, newest first')
      .argument('<reactor>')
      .option('-n, --limit <number>', 'how many', wholeNumber(1), 20),
    async () => (await import('../actions/executions.ts')).list,
  );
  does(
    executions
      .command('show')
      .summary('everything about one')
      .argument('<reactor>')
      .argument('[execution]', 'the newest, unless given'),
    async () => (await import('../actions/executions.ts')).show,
  );
  does(
    executions.command('halt').summary('stop one').argument('<reactor>').argument('<execution>'),
    async () => (await import('../actions/executions.ts')).halt,
  );
  does(
    program
      .command('logs')
      .summary('what an execution has written')
      .argument('<reactor>')
      .argument('[execution]', 'the newest, unless given')
      .option('-f, --follow', 'go on until its end')
      .option('-n, --tail <number>', 'only so many of the last lines', wholeNumber(0))
      .option('--stream <name>', 'stdout or stderr alone')
      .option('-t, --times', 'begin each line with its time'),
    async () => (await import('../actions/logs.ts')).logs,
  );
  does(
    program
      .command('results')
      .summary('take what executions gave back')
      .description(
        'Takes the oldest result that nobody has taken and writes it as it is. Nothing is printed when none is left.',
      )
      .argument('<reactor>')
      .argument('[execution]', 'the newest with results, unless given')
      .option('--all', 'all that are left, each on a line of its own')
      .option('--keep', 'read them and leave them there'),
    async () => (await import('../actions/results.ts')).results,
  );
  defineState(program);
  defineSchedule(program);
  does(
    program
      .command('events')
      .summary('what happens to your reactors and executions')
      .description(
        'Shows events as they happen, until you stop it with Ctrl-C, which ends it with 0.',
      )
      .option('-f, --follow', 'the default; as with logs')
      .option('--past', 'begin with the oldest that is kept')
      .option('-n, --limit <number>', 'end after so many', wholeNumber(1))
      .option('--reactor <reactor>', 'of this one alone')
      .option('--type <types>', 'of these types alone, separated by commas')
      .option('--all', 'of all users; for admins'),
    async () => (await import('../actions/events.ts')).events,
  );
}

function defineState(program: Command): void {
  const state = program
    .command('state')
    .summary('what a stateful reactor remembers')
    .description('Without a command: get.');
  does(
    state.command('get', { isDefault: true }).summary('print it, as JSON').argument('<reactor>'),
    async () => (await import('../actions/state.ts')).get,
  );
  does(
    state
      .command('set')
      .summary('replace it')
      .argument('<reactor>')
      .argument('[value]', 'JSON, or else text; - or nothing reads standard input')
      .option(
        '--if-match <etag>',
        'only while it is the state with this ETag (see state get --json)',
      ),
    async () => (await import('../actions/state.ts')).set,
  );
}

function defineSchedule(program: Command): void {
  const schedule = program
    .command('schedule')
    .summary('when a reactor runs by itself')
    .description('Without a command: show.');
  does(
    schedule
      .command('show', { isDefault: true })
      .summary('its schedule, and when it comes next')
      .argument('<reactor>'),
    async () => (await import('../actions/schedule.ts')).show,
  );
  does(
    schedule
      .command('set')
      .summary('give it one')
      .argument('<reactor>')
      .argument(
        '<expression>',
        'such as "0 3 * * *", "CRON_TZ=Europe/Berlin 0 3 * * *" or "now + 1 day"',
      ),
    async () => (await import('../actions/schedule.ts')).set,
  );
  for (const word of ['on', 'off'] as const)
    does(
      schedule
        .command(word)
        .summary(word === 'on' ? 'let it run again' : 'let it rest, and keep it')
        .argument('<reactor>'),
      async () => (await import('../actions/schedule.ts')).turn(word === 'on'),
    );
  does(
    schedule.command('rm').summary('take it away').argument('<reactor>'),
    async () => (await import('../actions/schedule.ts')).remove,
  );
}
