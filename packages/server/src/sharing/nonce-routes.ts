import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { type TString, Type } from 'typebox';
import { type Caller, callerOf } from '../contract/caller.ts';
import { pageFields, readPage } from '../contract/page.ts';
import type { PermissionLevel } from '../contract/permission-level.ts';
import {
  reactorsAccessWithoutNonce as access,
  underBothSpellings,
} from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import { mayUpdate } from '../reactors/reactor-access.ts';
import type { Reactors } from '../reactors/reactors.ts';
import type { Aliases } from './aliases.ts';
import { NewNonceFields, NonceRecord, nonceRecord } from './nonce-record.ts';
import type { NonceSubject, Nonces } from './nonces.ts';

export interface NonceRoutesParts {
  readonly nonces: Nonces;
  readonly aliases: Aliases;
  readonly reactors: Pick<Reactors, 'show'>;
  readonly baseUrl: () => string;
}

/** What the nonces of a path belong to, and which of them the caller may see: all, or those of its own. */
interface Found {
  readonly subject: NonceSubject;
  readonly reactorId: string;
  readonly onlyOwn: boolean;
}

type Find = (caller: Caller, name: string, needs: PermissionLevel) => Promise<Found>;

/** Nonces of reactors and of aliases: the same operations in two places. */
export function nonceRoutes(parts: NonceRoutesParts): FastifyPluginAsyncTypebox {
  const { reactors, aliases } = parts;
  const ofReactor: Find = async (caller, name, needs) => {
    const reactor = await reactors.show(caller, name, needs);
    const { id: reactorId } = reactor;
    return { subject: { reactorId }, reactorId, onlyOwn: !mayUpdate(caller, name, reactor) };
  };
  const ofAlias: Find = async (caller, name, needs) => {
    const { alias, reactorId } = await aliases.forCaller(caller, name, needs);
    const reactor = await reactors.show(caller, reactorId, needs);
    return { subject: { alias }, reactorId, onlyOwn: !mayUpdate(caller, reactorId, reactor) };
  };
  return underBothSpellings(async (app) => {
    await app.register(routesAt(parts, '', 'reactor', ofReactor));
    await app.register(routesAt(parts, '/aliases', 'alias', ofAlias));
  });
}

function routesAt(
  { nonces, baseUrl }: NonceRoutesParts,
  below: string,
  kind: 'reactor' | 'alias',
  find: Find,
): FastifyPluginAsyncTypebox {
  const tags = ['Sharing'];
  const parameter = kind === 'alias' ? 'alias' : 'reactorId';
  const path = `${below}/:${parameter}/nonces`;
  const Named = Type.Object<Record<string, TString>>({ [parameter]: Type.String() });
  const NamedNonce = Type.Object<Record<string, TString>>({
    [parameter]: Type.String(),
    nonceId: Type.String(),
  });
  const findFor = (
    request: FastifyRequest<{ Params: Record<string, string> }>,
    needs: PermissionLevel,
  ) => find(callerOf(request), request.params[parameter] ?? '', needs);
  const ownerOf = (request: FastifyRequest, { onlyOwn }: Found) =>
    onlyOwn ? callerOf(request).userId : undefined;

  return async (app) => {
    app.get(
      path,
      {
        config: { access, answer: 'enveloped', message: 'Nonces retrieved successfully.' },
        schema: {
          tags,
          summary: `List the nonces of ${kind === 'alias' ? 'an alias' : 'a reactor'}`,
          description:
            'Newest first. A nonce is a secret, so that those with less than UPDATE see only their own.',
          params: Named,
          querystring: Type.Object(pageFields),
          response: { 200: Type.Array(NonceRecord) },
        },
      },
      async (request) => {
        const found = await findFor(request, 'READ');
        const owner = ownerOf(request, found);
        const listed = await nonces.list(found.subject, owner, readPage(request.query));
        return listed.map((nonce) => nonceRecord(nonce, found.reactorId, baseUrl()));
      },
    );

    app.post(
      path,
      {
        config: { access, answer: 'enveloped', message: 'Nonce created successfully.' },
        preValidation: async (request) => {
          request.body ??= {};
        },
        schema: {
          tags,
          summary: `Make a nonce for ${kind === 'alias' ? 'an alias' : 'a reactor'}`,
          description: [...useDescription, ...(kind === 'alias' ? aliasDescription : [])].join(
            '\n',
          ),
          params: Named,
          body: NewNonceFields,
          response: { 201: NonceRecord },
        },
      },
      async (request, reply) => {
        const { level = 'EXECUTE', max_uses: maxUses = -1, description = '' } = request.body;
        if (maxUses === 0)
          throw fail('invalid_field', {
            field: 'max_uses',
            problem: 'takes a whole number from 1 up, or -1 for no limit',
          });
        if (kind === 'alias' && level === 'UPDATE')
          throw fail('invalid_field', {
            field: 'level',
            problem: 'takes READ or EXECUTE for the nonce of an alias',
          });
        const caller = callerOf(request);
        const { subject, reactorId } = await findFor(request, 'UPDATE');
        const nonce = await nonces.create(caller, { subject, level, maxUses, description });
        request.log.info({ ...subject, level, maxUses, user: caller.userId }, 'nonce made');
        return reply.code(201).send(nonceRecord(nonce, reactorId, baseUrl()));
      },
    );

    app.get(
      `${path}/:nonceId`,
      {
        config: { access, answer: 'enveloped', message: 'Nonce retrieved successfully.' },
        schema: {
          tags,
          summary: `Show a nonce of ${kind === 'alias' ? 'an alias' : 'a reactor'}`,
          params: NamedNonce,
          response: { 200: NonceRecord },
        },
      },
      async (request) => {
        const found = await findFor(request, 'READ');
        const owner = ownerOf(request, found);
        const nonce = await nonces.find(found.subject, request.params['nonceId'] ?? '', owner);
        return nonceRecord(nonce, found.reactorId, baseUrl());
      },
    );

    app.delete(
      `${path}/:nonceId`,
      {
        config: { access, answer: 'enveloped', message: 'Nonce deleted successfully.' },
        schema: {
          tags,
          summary: `Delete a nonce of ${kind === 'alias' ? 'an alias' : 'a reactor'}`,
          description: 'It opens nothing any more, at once. Needs UPDATE.',
          params: NamedNonce,
          response: { 200: Type.Null({ examples: [null] }) },
        },
      },
      async (request) => {
        const { subject } = await findFor(request, 'UPDATE');
        await nonces.remove(subject, request.params['nonceId'] ?? '');
        request.log.info({ ...subject, user: callerOf(request).userId }, 'nonce deleted');
        return null;
      },
    );
  };
}

const useDescription = [
  'A secret that stands for you at one reactor: whoever sends it as the query parameter `x-nonce`, without a token, acts for',
  'you at its level, or at yours where that is lower by then. It opens the operations of this reactor alone, and none of',
  'those that hand out access: nonces, and giving permissions.',
  '',
  'A request counts as a use once its permission has been found enough, also when it fails later; one that is refused for',
  'its level does not count. When the request has a token too, the token counts and the nonce does not. Needs UPDATE.',
];
const aliasDescription = [
  '',
  'The nonce of an alias works only where the alias stands in the address, and goes with it when it leads elsewhere. UPDATE',
  'is needed on the alias and on the reactor.',
];
