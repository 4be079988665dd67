import { Type } from 'typebox';
import { contentTypes } from './execution.ts';

/** Dead letters as the API shows them. */

/** No more ids than this in one reply. */
export const mostShown = 1000;

const example = 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d';
const Links = Type.Object({ self: Type.String(), owner: Type.String() });
const exampleLinks = {
  self: `${example}/dead-letters`,
  owner: 'https://reactors.example.org/profiles/v2/ada',
};

export const DeadLetters = Type.Object(
  {
    deadLetters: Type.Array(
      Type.Object({
        executionId: Type.String({ description: 'The execution that failed' }),
        time: Type.String({ description: 'When it failed for the last time; UTC, without a zone' }),
        attempts: Type.Integer({ description: 'How often it was tried' }),
        exitCode: Type.Union([Type.Integer(), Type.Null()], { description: 'Of the last try' }),
        reason: Type.String({ description: 'Why it failed, in words' }),
        contentType: Type.Enum([...contentTypes]),
        size: Type.Integer({ description: 'Bytes' }),
        _links: Type.Object({ self: Type.String(), execution: Type.String() }),
      }),
      { description: 'Newest first' },
    ),
    _links: Type.Object({
      self: Type.String(),
      owner: Type.String(),
      next: Type.Optional(Type.String({ description: 'The next page, where there is one' })),
    }),
  },
  {
    title: 'DeadLetters',
    examples: [
      {
        deadLetters: [
          {
            executionId: 'wq7PeV3mcNz4Ta',
            time: '2017-10-06 15:53:57.102938',
            attempts: 3,
            exitCode: 1,
            reason: 'exit code 1',
            contentType: 'str',
            size: 5,
            _links: {
              self: `${example}/dead-letters/wq7PeV3mcNz4Ta`,
              execution: `${example}/executions/wq7PeV3mcNz4Ta`,
            },
          },
        ],
        _links: exampleLinks,
      },
    ],
  },
);

export const ReplayedLetter = Type.Object(
  {
    executionId: Type.String({ description: 'The new execution' }),
    replayOf: Type.String({ description: 'The one that failed' }),
    _links: Type.Object({ self: Type.String(), owner: Type.String(), messages: Type.String() }),
  },
  {
    title: 'ReplayedDeadLetter',
    examples: [
      {
        executionId: 'wq8RdV3mcNz4Tb',
        replayOf: 'wq7PeV3mcNz4Ta',
        _links: {
          self: `${example}/executions/wq8RdV3mcNz4Tb`,
          owner: exampleLinks.owner,
          messages: `${example}/messages`,
        },
      },
    ],
  },
);

export const ReplayedLetters = Type.Object(
  {
    replayed: Type.Integer({ description: 'How many' }),
    executionIds: Type.Array(Type.String(), {
      description: `The new executions, in order; the first ${mostShown} of them`,
    }),
    _links: Links,
  },
  {
    title: 'ReplayedDeadLetters',
    examples: [{ replayed: 1, executionIds: ['wq8RdV3mcNz4Tb'], _links: exampleLinks }],
  },
);

export const DeletedLetters = Type.Object(
  { deleted: Type.Integer({ description: 'How many' }), _links: Links },
  { title: 'DeletedDeadLetters', examples: [{ deleted: 1, _links: exampleLinks }] },
);
