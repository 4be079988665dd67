import { type Static, Type } from 'typebox';
import { scheduleExamples } from '../cron/schedule-text.ts';

/** What a registration and a PUT may say; the rules that need the operator's settings are in reactor-rules.ts. */

/** No control characters, nothing that turns the direction of what stands beside it, and no half characters. */
const unwanted = '\\u007f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff';
const oneLine = `^[^\\u0000-\\u001f${unwanted}]*$`;
const plainText = `^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f${unwanted}]*$`;

const flag = (description: string) =>
  Type.Optional(Type.Boolean({ allows: 'true or false', description }));

export const RegisteredReactor = Type.Object(
  {
    image: Type.String({
      description: 'The container image: [registry/]repository[:tag][@digest].',
      allows: 'an image reference such as busybox:1.36',
    }),
    name: Type.Optional(
      Type.String({
        maxLength: 256,
        pattern: oneLine,
        allows: 'up to 256 characters of plain text in one line',
        description: 'For people; need not be unique. A PUT does not change it.',
      }),
    ),
    description: Type.Optional(
      Type.String({
        maxLength: 4096,
        pattern: plainText,
        allows: 'up to 4096 characters of plain text',
      }),
    ),
    default_environment: Type.Optional(
      Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.String()], {
        allows: 'an object of text by name, such as {"LEVEL": "3"}',
        description:
          'Environment variables of every execution, text by name; up to 512 KiB in all. A query parameter of the same ' +
          'name on a message replaces a value for that execution. In a form: the JSON of it.',
      }),
    ),
    stateless: flag(
      'False: it has state, and runs strictly one execution at a time. Default true.',
    ),
    max_workers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        allows: 'a whole number from 1 to 10000',
        description:
          'How many executions of it may run at once. 1 (the default) keeps the strict order of receipt; above 1 ' +
          'executions start in order of receipt. Not with stateless=false.',
      }),
    ),
    mem_limit: Type.Optional(
      Type.Union([Type.String(), Type.Integer()], {
        allows: 'a size such as 512m or 2g, or a number of bytes',
        description:
          "The memory of an execution: 512m, 2g, or bytes. Unless said, the operator's default.",
      }),
    ),
    max_cpus: Type.Optional(
      Type.Union([Type.Number(), Type.String()], {
        allows: 'a number of cores such as 0.5, or nanocpus from 1000000 up',
        description:
          "The cores of an execution, such as 0.5; whole numbers from 1000000 up are nanocpus. Unless said, the operator's default.",
      }),
    ),
    timeout: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 43_200,
        allows: 'a whole number of seconds from 1 to 43200',
        description:
          'After how many seconds an execution is stopped. Unless said, the most that is allowed.',
      }),
    ),
    log_ex: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 365 * 86_400,
        allows: 'a whole number of seconds from 1 up',
        description: 'For how many seconds logs are kept. Unless said, the most that is allowed.',
      }),
    ),
    retries: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        allows: 'a whole number from 0 to 100',
        description:
          'How often a failed execution (an exit code other than 0, out of time, lost with its container) is tried ' +
          'again, each time after a longer pause. With max_workers 1 the messages behind it wait. Default 0. What has ' +
          'failed for the last time is among the dead letters.',
      }),
    ),
    token: flag('Whether an access token is made for each execution. Default true.'),
    hints: Type.Optional(
      Type.Array(
        Type.String({
          maxLength: 256,
          pattern: oneLine,
          allows: 'up to 256 characters of plain text in one line',
        }),
        { maxItems: 100, allows: 'a list of up to 100 texts' },
      ),
    ),
    link: Type.Optional(
      Type.String({
        maxLength: 256,
        pattern: oneLine,
        allows: 'the id or alias of a reactor',
        description:
          'Where its events go: each becomes a JSON message of this reactor, in your name. You need EXECUTE there. Links ' +
          'must not lead in a circle.',
      }),
    ),
    webhook: Type.Optional(
      Type.String({
        maxLength: 2048,
        pattern: oneLine,
        allows: 'an address such as https://example.org/hook',
        description:
          'Where its events go: each is posted to this address as JSON, signed as Standard Webhooks describe.',
      }),
    ),
    cron_schedule: Type.Optional(
      Type.String({
        maxLength: 256,
        pattern: oneLine,
        allows: `a schedule such as ${scheduleExamples}`,
        description:
          'When it gets a message by itself: a cron expression of five fields, in UTC or with a zone before it ' +
          '(`CRON_TZ=Europe/Berlin 0 6 * * *`); or a start in UTC and an interval (`2030-01-31 08 + 6 hours`, `now + 1 day`; ' +
          'hours, days, weeks or months). Times that were missed come once.',
      }),
    ),
    cron_on: flag('False keeps the schedule without effect. Default true where there is one.'),
    remove_when_idle: flag(
      'True: it is deleted, with all that belongs to it, when it has not been used for the time that the operator has ' +
        'set (12 hours unless set otherwise). Meant for reactors that programs make and may leave behind. Default false.',
    ),
    force: flag('On PUT: pull the image although its name and tag are the same. Not kept.'),
    privileged: flag('Run privileged containers, where the operator allows it. Default false.'),
    registry_credentials: Type.Optional(
      Type.String({
        pattern: '^\\w{1,255}$',
        allows: 'the name of one of your secrets',
        description:
          'For private images: the name of a secret of the owner (see configs) that holds username:password, or JSON with ' +
          'username and password. Only the owner can name another one, or another registry with it.',
      }),
    ),
    type: Type.Optional(
      Type.Enum(['none', 'bin', 'json'], {
        type: 'string',
        description: 'Kept and shown, without effect.',
      }),
    ),
    queue: Type.Optional(
      Type.String({
        pattern: '^[\\w.-]{1,64}$',
        allows: '1 to 64 letters, digits, dots, underscores or hyphens',
        description: 'Kept and shown, without effect.',
      }),
    ),
    use_container_uid: flag('Kept and shown, without effect.'),
  },
  {
    title: 'RegisteredReactor',
    additionalProperties: false,
    examples: [
      {
        image: 'busybox:1.36',
        name: 'greeter',
        description: 'Says hello',
        default_environment: { GREETING: 'hello' },
        mem_limit: '64m',
        timeout: 60,
      },
    ],
  },
);

export type RegisteredReactor = Static<typeof RegisteredReactor>;
