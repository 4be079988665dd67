import type { Session, Sessions } from '../identity/sessions.ts';
import type { User } from '../identity/user.ts';
import type { Users } from '../identity/users.ts';
import { csrfToken } from './csrf.ts';

/** Who looks at a page: a browser's session, and its person once logged in. */
export interface Visitor {
  readonly cookie: string;
  readonly session: Session;
  readonly user: User | undefined;
}

export interface KnownVisitor extends Visitor {
  readonly user: User;
}

export class Visitors {
  readonly #sessions: Pick<Sessions, 'find' | 'open'>;
  readonly #users: Pick<Users, 'byId'>;

  constructor(sessions: Pick<Sessions, 'find' | 'open'>, users: Pick<Users, 'byId'>) {
    this.#sessions = sessions;
    this.#users = users;
  }

  async find(cookie: string | undefined): Promise<Visitor | undefined> {
    const session = await this.#sessions.find(cookie);
    if (session === undefined || cookie === undefined) return undefined;
    const user = session.userId === null ? undefined : await this.#users.byId(session.userId);
    return { cookie, session, user: user?.status === 'active' ? user : undefined };
  }

  /** A browser that comes for the first time gets a session too: forms are bound to one. */
  async findOrOpen(cookie: string | undefined): Promise<Visitor> {
    return (await this.find(cookie)) ?? { ...(await this.#sessions.open()), user: undefined };
  }

  /** The visitor, if its person is logged in. */
  async findLoggedIn(cookie: string | undefined): Promise<KnownVisitor | undefined> {
    const visitor = await this.find(cookie);
    return visitor !== undefined && isLoggedIn(visitor) ? visitor : undefined;
  }
}

export function isLoggedIn(visitor: Visitor): visitor is KnownVisitor {
  return visitor.user !== undefined;
}

export const csrfFor = (visitor: Visitor, about: string): string =>
  csrfToken(visitor.cookie, about);
