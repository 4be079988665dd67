import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../contract/caller.ts';
import { pageFields, readPage } from '../contract/page.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import { aliasProblem } from '../reactors/alias-names.ts';
import { permissionMap } from '../reactors/reactor-access.ts';
import { PermissionMap } from '../reactors/reactor-record.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { AliasRecord, aliasRecord, MovedAlias, NewAlias } from './alias-record.ts';
import type { Aliases } from './aliases.ts';
import { GivenPermission } from './permission-fields.ts';

export interface AliasRoutesParts {
  readonly aliases: Aliases;
  readonly reactors: Pick<Reactors, 'show'>;
  readonly baseUrl: () => string;
}

const NamedAlias = Type.Object({ alias: Type.String() });

/** Other names for reactors, and who may do what with the names. */
export function aliasRoutes(parts: AliasRoutesParts): FastifyPluginAsyncTypebox {
  const { aliases, reactors, baseUrl } = parts;
  const tags = ['Sharing'];
  return underBothSpellings(async (app) => {
    app.get(
      '/aliases',
      {
        config: { access, answer: 'enveloped', message: 'Aliases retrieved successfully.' },
        schema: {
          tags,
          summary: 'List aliases',
          description:
            'In order of the alphabet: your own, those of your reactors, and those shared with you or with everyone.',
          querystring: Type.Object(pageFields),
          response: { 200: Type.Array(AliasRecord) },
        },
      },
      async (request) => {
        const found = await aliases.list(callerOf(request), readPage(request.query));
        return found.map((alias) => aliasRecord(alias, baseUrl()));
      },
    );

    app.post(
      '/aliases',
      {
        config: { access, answer: 'enveloped', message: 'Alias created successfully.' },
        schema: {
          tags,
          summary: 'Make an alias',
          description:
            'Another name for a reactor, which works wherever its id does. Needs UPDATE on the reactor. It goes with its reactor.',
          body: NewAlias,
          response: { 201: AliasRecord },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const { alias, actor_id: name } = request.body;
        const problem = aliasProblem(alias);
        if (problem !== undefined) throw fail('invalid_field', { field: 'alias', problem });
        const reactor = await reactors.show(caller, name, 'UPDATE');
        await aliases.create(caller, alias, reactor);
        request.log.info({ alias, reactor: reactor.id, user: caller.userId }, 'alias made');
        const made = { alias, reactorId: reactor.id, ownerUsername: caller.username };
        const record = aliasRecord(made, baseUrl());
        return reply.code(201).header('location', record._links.self).send(record);
      },
    );

    app.get(
      '/aliases/:alias',
      {
        config: { access, answer: 'enveloped', message: 'Alias retrieved successfully.' },
        schema: {
          tags,
          summary: 'Show an alias',
          params: NamedAlias,
          response: { 200: AliasRecord },
        },
      },
      async (request) =>
        aliasRecord(
          await aliases.forCaller(callerOf(request), request.params.alias, 'READ'),
          baseUrl(),
        ),
    );

    app.put(
      '/aliases/:alias',
      {
        config: { access, answer: 'enveloped', message: 'Alias updated successfully.' },
        schema: {
          tags,
          summary: 'Let an alias lead to another reactor',
          description:
            'Needs UPDATE on the alias and on the reactor that it is to lead to. The nonces of the alias go with it.',
          params: NamedAlias,
          body: MovedAlias,
          response: { 200: AliasRecord },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const alias = await aliases.forCaller(caller, request.params.alias, 'UPDATE');
        const reactor = await reactors.show(caller, request.body.actor_id, 'UPDATE');
        await aliases.move(alias, reactor);
        const facts = { alias: alias.alias, reactor: reactor.id, user: caller.userId };
        request.log.info(facts, 'alias moved');
        return aliasRecord({ ...alias, reactorId: reactor.id }, baseUrl());
      },
    );

    app.delete(
      '/aliases/:alias',
      {
        config: { access, answer: 'enveloped', message: 'Alias deleted successfully.' },
        schema: {
          tags,
          summary: 'Delete an alias',
          description: 'The reactor stays. Needs UPDATE on the alias.',
          params: NamedAlias,
          response: { 200: Type.Null({ examples: [null] }) },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const alias = await aliases.forCaller(caller, request.params.alias, 'UPDATE');
        await aliases.remove(alias);
        request.log.info({ alias: alias.alias, user: caller.userId }, 'alias deleted');
        return null;
      },
    );

    app.get(
      '/aliases/:alias/permissions',
      {
        config: { access, answer: 'enveloped', message: 'Permissions retrieved successfully.' },
        schema: {
          tags,
          summary: 'Who may do what with an alias',
          description: 'A level by username, the owner included. Needs READ on the alias.',
          params: NamedAlias,
          response: { 200: PermissionMap },
        },
      },
      async (request) =>
        permissionMap(await aliases.forCaller(callerOf(request), request.params.alias, 'READ')),
    );

    app.post(
      '/aliases/:alias/permissions',
      {
        config: { access, answer: 'enveloped', message: 'Permission added successfully.' },
        schema: {
          tags,
          summary: 'Give or take a permission on an alias',
          description:
            'READ: see the alias. UPDATE: change it. It gives nothing on the reactor behind it. NONE takes it away. Needs UPDATE on the alias.',
          params: NamedAlias,
          body: GivenPermission,
          response: { 200: PermissionMap },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const alias = await aliases.forCaller(caller, request.params.alias, 'UPDATE');
        await aliases.give(request.body, alias);
        return permissionMap(await aliases.forCaller(caller, alias.alias, 'READ'));
      },
    );
  });
}
