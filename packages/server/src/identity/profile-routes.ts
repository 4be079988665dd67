import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, isAdmin } from '../contract/caller.ts';
import { pageFields, readPage } from '../contract/page.ts';
import { ChangedProfile, NewProfile, readProfile, readStatus } from './profile-fields.ts';
import { OwnProfile, profileRecord, publicRecord, ShownProfile } from './profile-record.ts';
import {
  changeUser,
  named,
  type ProfileRoutesParts,
  queryOf,
  requireAdmin,
  unknownUser,
} from './profile-route-steps.ts';

const access = { api: 'Profiles' } as const;
const Named = Type.Object({ username: Type.String() });
const noFields = Type.Object({});

const Filter = Type.Optional(
  Type.String({
    maxLength: 256,
    pattern: '^[^\\u0000]*$',
    allows: 'up to 256 characters, none of them NUL',
    description: 'Found anywhere in the field, whatever the case of A to Z.',
  }),
);

const Search = Type.Object({
  ...pageFields,
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      allows: 'the uid of a user',
      description: 'Begin after the user with this uid: faster than a large offset.',
    }),
  ),
  name: Filter,
  username: Filter,
  email: Filter,
  first_name: Filter,
  last_name: Filter,
  full_name: Filter,
  status: Type.Optional(
    Type.String({ allows: 'Active or Inactive', description: 'Only those: Active or Inactive.' }),
  ),
});

/** The profiles area: one's own profile, and for admins everybody's account. */
export function profileRoutes(parts: ProfileRoutesParts): FastifyPluginAsyncTypebox {
  const { users, baseUrl } = parts;
  return async (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('cache-control', 'no-store');
    });

    app.get(
      '/profiles/v2/me',
      {
        config: { access, answer: 'bare', message: 'User details retrieved successfully.' },
        schema: {
          tags: ['Profiles'],
          summary: 'Your own profile',
          description:
            'With both `pretty` and `naked` in the query the compact record; otherwise the full one.',
          querystring: noFields,
          response: { 200: OwnProfile },
        },
      },
      async (request) => {
        const user = await users.byId(callerOf(request).userId);
        if (user === undefined) throw unknownUser(callerOf(request).username);
        return profileRecord(user, queryOf(request), baseUrl());
      },
    );

    app.get(
      '/profiles/v2/:username',
      {
        config: { access, answer: 'bare', message: 'User details retrieved successfully.' },
        schema: {
          tags: ['Profiles'],
          summary: 'A profile',
          description:
            'The user itself and admins see all of it. Others see the names of an active user, and 404 for a disabled one.',
          params: Named,
          querystring: noFields,
          response: { 200: ShownProfile },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const user = await named(users, request.params.username);
        if (user.id === caller.userId || isAdmin(caller))
          return profileRecord(user, queryOf(request), baseUrl());
        if (user.status !== 'active') throw unknownUser(request.params.username);
        return publicRecord(user, baseUrl());
      },
    );

    app.get(
      '/profiles/v2',
      {
        config: { access, answer: 'bare', message: 'Users retrieved successfully.' },
        schema: {
          tags: ['Profiles'],
          summary: 'List and find users',
          description: 'For admins. In the order in which the users were made; filters narrow.',
          querystring: Search,
          response: { 200: Type.Array(OwnProfile) },
        },
      },
      async (request) => {
        requireAdmin(callerOf(request));
        const { first_name, last_name, full_name, after = 0, ...query } = request.query;
        const found = await users.search(
          {
            name: given(query.name),
            username: given(query.username),
            email: given(query.email),
            firstName: given(first_name),
            lastName: given(last_name),
            fullName: given(full_name),
            status: given(query.status) === undefined ? undefined : readStatus(query.status ?? ''),
          },
          { ...readPage(query), after },
        );
        return found.map((user) => profileRecord(user, queryOf(request), baseUrl()));
      },
    );

    app.post(
      '/profiles/v2',
      {
        config: { access, answer: 'bare', message: 'User created successfully.' },
        schema: {
          tags: ['Profiles'],
          summary: 'Make a user',
          description:
            'For admins. A name that differs from a taken one only in the case of its letters is taken (409).',
          body: NewProfile,
          querystring: noFields,
          response: { 201: OwnProfile },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        requireAdmin(caller);
        const { username, password, roles, grants } = request.body;
        const profile = readProfile(request.body);
        const user = await users.create({ ...profile, username, password, roles, grants });
        request.log.info({ event: 'user_created', user: user.id, by: caller.userId }, 'user made');
        reply.code(201).header('location', `${baseUrl()}/profiles/v2/${user.username}`);
        return profileRecord(user, queryOf(request), baseUrl());
      },
    );

    const change = {
      config: { access, answer: 'bare' as const, message: 'User updated successfully.' },
      schema: {
        tags: ['Profiles'],
        body: ChangedProfile,
        querystring: noFields,
        response: { 200: OwnProfile },
      },
    };
    const changeDescription =
      'Changes the fields that are sent and leaves the others. A record that was read can be sent back with ' +
      'changes. A new password ends all other sessions and the tokens of all logins, also the one of this request.';
    app.put(
      '/profiles/v2/me',
      {
        ...change,
        schema: {
          ...change.schema,
          summary: 'Change your profile',
          description: changeDescription,
        },
      },
      async (request) => changeUser(parts, request, callerOf(request).username, request.body),
    );
    app.put(
      '/profiles/v2/:username',
      {
        ...change,
        schema: {
          ...change.schema,
          params: Named,
          summary: 'Change a profile',
          description: `Your own, or as an admin anyone's, with roles, grants, status and password. ${changeDescription}`,
        },
      },
      async (request) => changeUser(parts, request, request.params.username, request.body),
    );

    app.delete(
      '/profiles/v2/:username',
      {
        config: { access, answer: 'bare', message: 'User removed successfully.' },
        schema: {
          tags: ['Profiles'],
          summary: 'Remove a user',
          description:
            'For admins. With everything the user owns. Never the last active admin (409). Its name can be given again, its uid never.',
          params: Named,
          querystring: noFields,
          response: { 200: Type.Null() },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        requireAdmin(caller);
        const user = await named(users, request.params.username);
        if (!(await users.remove(user.id))) throw unknownUser(user.username);
        request.log.info({ event: 'user_removed', user: user.id, by: caller.userId }, 'user gone');
        return null;
      },
    );
  };
}

/** An empty filter is none. */
const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
