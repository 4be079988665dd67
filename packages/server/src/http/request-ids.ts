import type { IncomingMessage } from 'node:http';
import { newId } from '../ids.ts';

/** Of this process; what follows counts its requests. */
const prefix = newId();
let requests = 0;

/** A caller's own request id is kept when it is plain; anything else could forge log lines. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : nextId();
}

function nextId(): string {
  requests += 1;
  return `${prefix}-${requests.toString(36)}`;
}
