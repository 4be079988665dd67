import { Type } from 'typebox';
import { contentTypes } from './execution.ts';

/** The replies of the inbox, as the API description shows them. */

const InboxLinks = Type.Object({
  self: Type.String({ description: 'The inbox' }),
  owner: Type.String({ description: "The profile of the reactor's owner" }),
});

export const PostedMessage = Type.Object(
  {
    executionId: Type.String({ description: 'The execution that the message leads to' }),
    msg: Type.Unknown({
      description: 'The message as it was understood; `binary - omitted` for bytes',
    }),
    _links: Type.Object({
      self: Type.String({ description: 'The execution' }),
      owner: Type.String({ description: "The profile of the reactor's owner" }),
      messages: Type.String({ description: 'The inbox' }),
    }),
  },
  {
    title: 'PostedMessage',
    examples: [
      {
        executionId: 'wq7PeV3mcNz4Ta',
        msg: 'hello',
        _links: {
          self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/executions/wq7PeV3mcNz4Ta',
          owner: 'https://reactors.example.org/profiles/v2/ada',
          messages: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/messages',
        },
      },
    ],
  },
);

export const PostedBatch = Type.Object(
  {
    executionIds: Type.Array(Type.String(), {
      description: 'The executions that the messages lead to, in the order of the messages',
    }),
    _links: Type.Object({
      owner: Type.String({ description: "The profile of the reactor's owner" }),
      messages: Type.String({ description: 'The inbox' }),
    }),
  },
  {
    title: 'PostedBatch',
    examples: [
      {
        executionIds: ['wq7PeV3mcNz4Ta', 'wq7PeV3mb2Xw8K'],
        _links: {
          owner: 'https://reactors.example.org/profiles/v2/ada',
          messages: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/messages',
        },
      },
    ],
  },
);

/** Of a message whose sender waits. */
export const AnsweredMessage = Type.String({
  description: 'With `wait`: the first result as it was given, or the log of an execution without.',
  examples: ['hello\n'],
});

const WaitingMessage = Type.Object({
  executionId: Type.String(),
  receivedTime: Type.String({ description: 'UTC, without a zone' }),
  contentType: Type.Enum([...contentTypes]),
  size: Type.Integer({ description: 'Bytes' }),
});

export const InboxRecord = Type.Object(
  {
    messages: Type.Integer({ description: 'How many messages wait' }),
    delayed: Type.Integer({
      description: 'How many more are not in the order yet: they wait for their time',
    }),
    waiting: Type.Optional(Type.Array(WaitingMessage, { description: 'The oldest, with `peek`' })),
    _links: InboxLinks,
  },
  {
    title: 'Inbox',
    examples: [
      {
        messages: 2,
        delayed: 0,
        _links: {
          self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/messages',
          owner: 'https://reactors.example.org/profiles/v2/ada',
        },
      },
    ],
  },
);

export const PurgedInbox = Type.Object(
  {
    msg: Type.String(),
    dropped: Type.Integer({ description: 'How many messages were dropped' }),
    _links: InboxLinks,
  },
  {
    title: 'PurgedInbox',
    examples: [
      {
        msg: 'Actor mailbox purged.',
        dropped: 2,
        _links: {
          self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/messages',
          owner: 'https://reactors.example.org/profiles/v2/ada',
        },
      },
    ],
  },
);
