import { Type } from 'typebox';
import type { Config } from '../configs/config-rows.ts';

const value = Type.Unknown({
  allows: 'text, up to 64 KiB',
  description: 'Text; everything else is kept as its JSON.',
});

const actors = Type.Optional(
  Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 1000 })], {
    allows: 'ids or aliases of reactors, separated by commas or as a list',
    description: 'Ids or aliases of reactors, separated by commas or as a list.',
  }),
);

const isSecret = Type.Optional(
  Type.Boolean({
    allows: 'true or false',
    description: 'Encrypted, never shown again, and taken out of logs. Default false.',
  }),
);

export const NewConfig = Type.Object(
  {
    name: Type.String({
      allows: 'the name of an environment variable',
      description: 'The name of the environment variable; unique among your configs.',
    }),
    value,
    is_secret: isSecret,
    actors,
  },
  {
    title: 'NewConfig',
    additionalProperties: false,
    examples: [
      { name: 'API_KEY', value: 'k-1234567890', is_secret: true, actors: 'hK3vXmPq8RnW2d' },
    ],
  },
);

export const ChangedConfig = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'Its own name; it cannot be given another.' })),
    value: Type.Optional(value),
    is_secret: isSecret,
    actors,
  },
  {
    title: 'ChangedConfig',
    additionalProperties: false,
    examples: [{ value: 'k-0987654321', actors: 'hK3vXmPq8RnW2d,greeter-prod' }],
  },
);

export const ConfigRecord = Type.Object(
  {
    name: Type.String(),
    value: Type.Union([Type.String(), Type.Null()], { description: 'Null for a secret.' }),
    isSecret: Type.Boolean(),
    actors: Type.String({ description: 'Ids of reactors, separated by commas.' }),
    owner: Type.String(),
    createTime: Type.String({ format: 'date-time' }),
    lastUpdateTime: Type.String({ format: 'date-time' }),
    _links: Type.Object({ self: Type.String(), owner: Type.String() }),
  },
  {
    title: 'Config',
    examples: [
      {
        name: 'API_KEY',
        value: null,
        isSecret: true,
        actors: 'hK3vXmPq8RnW2d',
        owner: 'ada',
        createTime: '2026-01-31T12:00:00.000Z',
        lastUpdateTime: '2026-01-31T12:00:00.000Z',
        _links: {
          self: 'https://reactors.example.org/actors/v2/configs/API_KEY',
          owner: 'https://reactors.example.org/profiles/v2/ada',
        },
      },
    ],
  },
);

export function configRecord(config: Config, owner: string, baseUrl: string) {
  return {
    name: config.name,
    value: config.value,
    isSecret: config.isSecret,
    actors: config.reactorIds.join(','),
    owner,
    createTime: new Date(config.createdAt).toISOString(),
    lastUpdateTime: new Date(config.updatedAt).toISOString(),
    _links: {
      self: `${baseUrl}/actors/v2/configs/${config.name}`,
      owner: `${baseUrl}/profiles/v2/${owner}`,
    },
  };
}
