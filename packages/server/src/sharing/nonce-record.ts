import { Type } from 'typebox';
import { type PermissionLevel, permissionLevels } from '../contract/permission-level.ts';
import type { Nonce } from './nonces.ts';

const text = Type.String();
const time = Type.String({ format: 'date-time' });

/** What making a nonce takes. */
export const NewNonceFields = Type.Object(
  {
    level: Type.Optional(
      Type.Enum([...permissionLevels], {
        type: 'string',
        default: 'EXECUTE',
        description:
          'What it opens at most; never more than its owner may do. Of an alias: not UPDATE.',
      }),
    ),
    max_uses: Type.Optional(
      Type.Integer({
        default: -1,
        minimum: -1,
        maximum: 1_000_000_000,
        allows: 'a whole number from 1 up, or -1 for no limit',
        description: 'How many requests it opens. -1: no limit.',
      }),
    ),
    description: Type.Optional(
      Type.String({
        maxLength: 1024,
        pattern: '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f\\ud800-\\udfff]*$',
        allows: 'up to 1024 characters of plain text',
      }),
    ),
  },
  {
    title: 'NewNonce',
    additionalProperties: false,
    examples: [{ level: 'EXECUTE', max_uses: 10, description: 'for the build server' }],
  },
);

export const NonceRecord = Type.Object(
  {
    id: Type.Union([text, Type.Null()], {
      description:
        'The secret to send as x-nonce. Null when it was encrypted with a key that the operator has taken away.',
    }),
    level: Type.String({ enum: [...permissionLevels] }),
    maxUses: Type.Integer({ description: '-1: no limit.' }),
    currentUses: Type.Integer(),
    remainingUses: Type.Integer({ description: '-1: no limit.' }),
    owner: Type.String({ description: 'For whom it acts.' }),
    actorId: Type.Optional(text),
    alias: Type.Optional(text),
    description: text,
    roles: Type.Array(text, { description: 'Of its owner; a nonce has no use of them.' }),
    apiServer: text,
    createTime: time,
    lastUseTime: Type.Union([time, Type.Null()]),
    _links: Type.Object({ self: text, owner: text, actor: text }),
  },
  {
    title: 'Nonce',
    examples: [
      {
        id: 'rct_nc_…',
        level: 'EXECUTE',
        maxUses: 10,
        currentUses: 0,
        remainingUses: 10,
        owner: 'ada',
        actorId: 'hK3vXmPq8RnW2d',
        description: 'for the build server',
        roles: [],
        apiServer: 'https://reactors.example.org',
        createTime: '2026-01-31T12:00:00.000Z',
        lastUseTime: null,
        _links: {
          self: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d/nonces/rct_nc_…',
          owner: 'https://reactors.example.org/profiles/v2/ada',
          actor: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d',
        },
      },
    ],
  },
);

/** `actorId`: the reactor that it opens now. */
export function nonceRecord(nonce: Nonce, actorId: string, baseUrl: string) {
  const { id, level, maxUses, currentUses, alias, lastUsedAt } = nonce;
  const actor = `${baseUrl}/actors/v2/${actorId}`;
  const place = alias === null ? actor : `${baseUrl}/actors/v2/aliases/${alias}`;
  return {
    id,
    level: level satisfies PermissionLevel,
    maxUses,
    currentUses,
    remainingUses: maxUses < 0 ? -1 : maxUses - currentUses,
    owner: nonce.ownerUsername,
    ...(alias === null ? { actorId } : { alias }),
    description: nonce.description,
    roles: [...nonce.roles],
    apiServer: baseUrl,
    createTime: new Date(nonce.createdAt).toISOString(),
    lastUseTime: lastUsedAt === null ? null : new Date(lastUsedAt).toISOString(),
    _links: {
      self: `${place}/nonces/${id ?? ''}`,
      owner: `${baseUrl}/profiles/v2/${nonce.ownerUsername}`,
      actor,
    },
  };
}
