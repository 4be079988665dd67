import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Caller } from '../contract/caller.ts';
import { fail } from '../errors.ts';
import type { Client } from './client.ts';
import type { Clients } from './clients.ts';

/** Who may use the clients area: the user with their password, or a token of theirs. */
export const access = { api: 'Clients', password: true } as const;

export const NamedClient = Type.Object({ clientName: Type.String() });

/** The caller's client of that name. Somebody else's is as unknown as one that does not exist. */
export async function ownClient(clients: Clients, caller: Caller, name: string): Promise<Client> {
  const client = await clients.byName(caller.userId, name);
  if (client === undefined) throw fail('unknown_resource', { kind: 'client', name });
  return client;
}

/** Replies here hold secrets or say who may do what: nobody on the way keeps them. */
export async function forbidCaching(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('cache-control', 'no-store');
}

/** So that a missing body is read as one without fields, and the field that is missing is named. */
export async function expectBody(request: FastifyRequest): Promise<void> {
  request.body ??= {};
}
