import { randomBytes } from 'node:crypto';

const name = 'session';
const lifetimeMs = 8 * 3_600_000;
const most = 10_000;

export const cookieOf = (request) =>
  new RegExp(`(?:^|;\\s*)${name}=([\\w-]{43})(?:;|$)`).exec(request.headers.cookie ?? '')?.[1];

/** Who is logged in, in memory: a restart logs everybody out. Tokens stay here and never reach the browser. */
export class Sessions {
  #byId = new Map();

  of(id, secure) {
    const known = this.#byId.get(id);
    if (known && known.until > Date.now()) return { session: known };
    const session = { id: newId(), until: Date.now() + lifetimeMs, secure };
    this.#keep(session);
    return { session, setCookie: cookie(session) };
  }

  renew(session) {
    this.#byId.delete(session.id);
    session.id = newId();
    this.#keep(session);
    return cookie(session);
  }

  end(session) {
    this.#byId.delete(session.id);
    return `${name}=; Path=/; Max-Age=0`;
  }

  /** The oldest goes when there are too many. */
  #keep(session) {
    if (this.#byId.size >= most) this.#byId.delete(this.#byId.keys().next().value);
    this.#byId.set(session.id, session);
  }
}

const newId = () => randomBytes(32).toString('base64url');

const cookie = ({ id, secure }) =>
  `${name}=${id}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${lifetimeMs / 1000}${secure ? '; Secure' : ''}`;
