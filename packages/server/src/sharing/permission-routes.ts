import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../contract/caller.ts';
import {
  reactorsAccess as access,
  reactorsAccessWithoutNonce,
  underBothSpellings,
} from '../contract/reactors-area.ts';
import { permissionMap } from '../reactors/reactor-access.ts';
import { PermissionMap } from '../reactors/reactor-record.ts';
import type { Reactors } from '../reactors/reactors.ts';
import { GivenPermission } from './permission-fields.ts';
import { givePermission, type PermissionParts } from './permissions.ts';

export interface PermissionRoutesParts extends PermissionParts {
  readonly reactors: Pick<Reactors, 'commit' | 'show'>;
}

const NamedReactor = Type.Object({ reactorId: Type.String() });

/** Who may do what with a reactor. */
export function permissionRoutes(parts: PermissionRoutesParts): FastifyPluginAsyncTypebox {
  const { reactors } = parts;
  return underBothSpellings(async (app) => {
    app.get(
      '/:reactorId/permissions',
      {
        config: { access, answer: 'enveloped', message: 'Permissions retrieved successfully.' },
        schema: {
          tags: ['Sharing'],
          summary: 'Who may do what with a reactor',
          description: 'A level by username, the owner included. Needs READ.',
          params: NamedReactor,
          response: { 200: PermissionMap },
        },
      },
      async (request) =>
        permissionMap(await reactors.show(callerOf(request), request.params.reactorId, 'READ')),
    );

    app.post(
      '/:reactorId/permissions',
      {
        config: {
          access: reactorsAccessWithoutNonce,
          answer: 'enveloped',
          message: 'Permission added successfully.',
        },
        schema: {
          tags: ['Sharing'],
          summary: 'Give or take a permission on a reactor',
          description,
          params: NamedReactor,
          body: GivenPermission,
          response: { 200: PermissionMap },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const reactor = await reactors.show(caller, request.params.reactorId, 'UPDATE');
        await givePermission(parts, reactor, request.body);
        const { user, level } = request.body;
        request.log.info({ reactor: reactor.id, by: caller.userId, user, level }, 'reactor shared');
        return permissionMap(await reactors.show(caller, reactor.id, 'READ'));
      },
    );
  });
}

const description = [
  'Answers with all permissions. Each level has those before it:',
  '',
  '- READ: see the reactor, its executions, logs and messages.',
  '- EXECUTE: post messages too. The execution, and the token that its container is given, act for whoever posted the',
  '  message: do not post to reactors of people you do not trust.',
  '- UPDATE: everything else too: replace, delete, halt, purge, share.',
  '- NONE takes the permission away.',
  '',
  'WORLD is everyone who may use the area, at the level given. Whoever has no permission is answered 404, and whoever has',
  'too little 403. Needs UPDATE, and no nonce opens it.',
].join('\n');
