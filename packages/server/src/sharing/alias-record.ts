import { Type } from 'typebox';
import type { Alias } from './alias-rows.ts';

const target = Type.String({
  minLength: 1,
  allows: 'the id of a reactor, or another of its aliases',
  description: 'The reactor, on which UPDATE is needed.',
});

export const NewAlias = Type.Object(
  {
    alias: Type.String({
      allows: '1 to 128 letters, digits, hyphens, underscores or dots',
      description:
        'Letters, digits, `-`, `_` and `.`; unique; neither the name of an operation nor of the form of an id.',
    }),
    actor_id: target,
  },
  {
    title: 'NewAlias',
    additionalProperties: false,
    examples: [{ alias: 'greeter-prod', actor_id: 'hK3vXmPq8RnW2d' }],
  },
);

export const MovedAlias = Type.Object(
  { actor_id: target },
  {
    title: 'MovedAlias',
    additionalProperties: false,
    examples: [{ actor_id: 'wq7PeV3mcNz4Ta' }],
  },
);

export const AliasRecord = Type.Object(
  {
    alias: Type.String(),
    actorId: Type.String(),
    owner: Type.String({ description: 'The username of who made it.' }),
    _links: Type.Object({ self: Type.String(), owner: Type.String(), actor: Type.String() }),
  },
  {
    title: 'Alias',
    examples: [
      {
        alias: 'greeter-prod',
        actorId: 'hK3vXmPq8RnW2d',
        owner: 'ada',
        _links: {
          self: 'https://reactors.example.org/actors/v2/aliases/greeter-prod',
          owner: 'https://reactors.example.org/profiles/v2/ada',
          actor: 'https://reactors.example.org/actors/v2/hK3vXmPq8RnW2d',
        },
      },
    ],
  },
);

type Shown = Pick<Alias, 'alias' | 'reactorId' | 'ownerUsername'>;

export function aliasRecord({ alias, reactorId, ownerUsername }: Shown, baseUrl: string) {
  return {
    alias,
    actorId: reactorId,
    owner: ownerUsername,
    _links: {
      self: `${baseUrl}/actors/v2/aliases/${alias}`,
      owner: `${baseUrl}/profiles/v2/${ownerUsername}`,
      actor: `${baseUrl}/actors/v2/${reactorId}`,
    },
  };
}
