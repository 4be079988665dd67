import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type Static, Type } from 'typebox';
import type { Config } from '../configs/config-rows.ts';
import { readValue } from '../configs/config-rules.ts';
import type { Configs } from '../configs/configs.ts';
import { type Caller, callerOf } from '../contract/caller.ts';
import { pageFields, readPage } from '../contract/page.ts';
import { reactorsAccess as access, underBothSpellings } from '../contract/reactors-area.ts';
import { fail } from '../errors.ts';
import { ChangedConfig, ConfigRecord, configRecord, NewConfig } from './config-record.ts';
import type { Reactors } from './reactors.ts';
import { variableNameProblem } from './variable-names.ts';

export interface ConfigRoutesParts {
  readonly configs: Configs;
  readonly reactors: Pick<Reactors, 'show'>;
  readonly config: { readonly second_prefix: string | undefined };
  readonly baseUrl: () => string;
}

const NamedConfig = Type.Object({ name: Type.String() });
const tags = ['Configs'];

/** A user's named values and secrets, which containers get as environment variables. */
export function configRoutes(parts: ConfigRoutesParts): FastifyPluginAsyncTypebox {
  const { configs, baseUrl } = parts;
  const show = (caller: Caller, config: Config) => configRecord(config, caller.username, baseUrl());
  return underBothSpellings(async (app) => {
    app.get(
      '/configs',
      {
        config: { access, answer: 'enveloped', message: 'Configs retrieved successfully.' },
        schema: {
          tags,
          summary: 'List your configs',
          description: 'In order of the alphabet. The value of a secret is never shown.',
          querystring: Type.Object(pageFields),
          response: { 200: Type.Array(ConfigRecord) },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const found = await configs.list(caller.userId, readPage(request.query));
        return found.map((config) => show(caller, config));
      },
    );

    app.post(
      '/configs',
      {
        config: { access, answer: 'enveloped', message: 'Config created successfully.' },
        schema: {
          tags,
          summary: 'Make a config or a secret',
          description,
          body: NewConfig,
          response: { 201: ConfigRecord },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request);
        const { name, is_secret: isSecret = false } = request.body;
        const problem = variableNameProblem(name, parts.config.second_prefix);
        if (problem !== undefined) throw fail('invalid_field', { field: 'name', problem });
        const value = readValue(request.body.value);
        const reactorIds = await readActors(parts, caller, request.body.actors ?? []);
        const made = await configs.create(caller, { name, value, isSecret, reactorIds });
        request.log.info({ config: name, isSecret, user: caller.userId }, 'config made');
        const record = show(caller, made);
        return reply.code(201).header('location', record._links.self).send(record);
      },
    );

    app.get(
      '/configs/:name',
      {
        config: { access, answer: 'enveloped', message: 'Config retrieved successfully.' },
        schema: {
          tags,
          summary: 'Show one of your configs',
          description: 'The value of a secret is null.',
          params: NamedConfig,
          response: { 200: ConfigRecord },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        return show(caller, await findConfig(parts, caller, request.params.name));
      },
    );

    app.put(
      '/configs/:name',
      {
        config: { access, answer: 'enveloped', message: 'Config updated successfully.' },
        schema: {
          tags,
          summary: 'Change one of your configs',
          description:
            'What is not sent stays as it is, so that a secret need not be sent again. It applies from the next execution on. ' +
            'Needs UPDATE on each reactor that is named.',
          params: NamedConfig,
          body: ChangedConfig,
          response: { 200: ConfigRecord },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const config = await findConfig(parts, caller, request.params.name);
        const { body } = request;
        if (body.name !== undefined && body.name !== config.name)
          throw fail('invalid_field', {
            field: 'name',
            problem: `is ${config.name}, and cannot be changed; make another config`,
          });
        const isSecret = body.is_secret ?? config.isSecret;
        const value = body.value === undefined ? undefined : readValue(body.value);
        const given = body.actors ?? config.reactorIds;
        const reactorIds = await readActors(parts, caller, given);
        const changed = await configs.change(caller, config, {
          value: valueFor(config, isSecret, value),
          isSecret,
          reactorIds,
        });
        request.log.info({ config: config.name, isSecret, user: caller.userId }, 'config changed');
        return show(caller, changed);
      },
    );

    app.delete(
      '/configs/:name',
      {
        config: { access, answer: 'enveloped', message: 'Config deleted successfully.' },
        schema: {
          tags,
          summary: 'Delete one of your configs',
          description: 'Containers that run keep what they were given.',
          params: NamedConfig,
          response: { 200: Type.Null({ examples: [null] }) },
        },
      },
      async (request) => {
        const caller = callerOf(request);
        const config = await findConfig(parts, caller, request.params.name);
        await configs.remove(config);
        request.log.info({ config: config.name, user: caller.userId }, 'config deleted');
        return null;
      },
    );
  });
}

async function findConfig(
  { configs }: ConfigRoutesParts,
  caller: Caller,
  name: string,
): Promise<Config> {
  // Other texts name none, and some of them the store could not even be asked for.
  if (!/^\w{1,255}$/.test(name)) throw fail('unknown_resource', { kind: 'config', name });
  return configs.find(caller.userId, name);
}

/** A value that is to be kept in another way has to be there: a secret turned into a config would be shown. */
function valueFor(config: Config, isSecret: boolean, value: string | undefined) {
  if (value !== undefined || isSecret === config.isSecret) return value;
  if (config.value !== null) return config.value;
  throw fail('invalid_field', {
    field: 'value',
    problem: 'is required when a secret is to be one no longer: a secret is never shown',
  });
}

/** Ids or aliases, in one text or a list, each with UPDATE for the caller. */
async function readActors(
  { reactors }: ConfigRoutesParts,
  caller: Caller,
  given: Static<typeof NewConfig>['actors'] | readonly string[],
): Promise<readonly string[]> {
  const names = (typeof given === 'string' ? [given] : (given ?? []))
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const ids = new Set<string>();
  for (const name of new Set(names)) ids.add((await reactors.show(caller, name, 'UPDATE')).id);
  return [...ids];
}

const description = [
  'Each execution of the reactors in `actors` gets it as the environment variable of its name, and all of them together as',
  'JSON in `_actor_configs`. It comes before default_environment and what a message sets. Needs UPDATE on each reactor.',
  '',
  'A secret (`is_secret`) is encrypted in the store and never shown again. In the logs of executions it is `[redacted]`: the',
  'whole of it, also as JSON, and each line of 12 characters and more; not when it has fewer than 6 characters. Whoever has',
  'UPDATE on one of the reactors can have its containers print it in other ways.',
  '',
  'A secret without reactors serves as `registry_credentials`.',
].join('\n');
