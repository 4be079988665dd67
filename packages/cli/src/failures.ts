import {
  ApiError,
  ConnectionError,
  InvalidReplyError,
  OAuthError,
  ReactordError,
  TimeoutError,
} from '@reactord/client';
import { CommandFailure, type Ending } from './exit-codes.ts';

const endings: Readonly<Record<number, Ending>> = {
  400: 'usage',
  401: 'login',
  403: 'forbidden',
  404: 'notFound',
  409: 'conflict',
  412: 'conflict',
  422: 'conflict',
  429: 'unavailable',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/** What the SDK threw, in the words and the exit code of the command line. */
export function failureOf(
  error: unknown,
  context: { readonly server: string },
): CommandFailure | undefined {
  if (error instanceof CommandFailure) return error;
  if (!(error instanceof ReactordError)) return undefined;
  const { server } = context;
  if (error instanceof ApiError) {
    const ending = endings[error.status] ?? 'failed';
    const next = ending === 'login' ? `Log in: reactord login --server ${server}` : nextFor(error);
    return new CommandFailure(ending, error.message, next);
  }
  if (error instanceof ConnectionError)
    return new CommandFailure(
      'unavailable',
      error.message.endsWith('.') ? error.message : `${error.message}.`,
      'Is it running there? Start one with reactord serve, or name another with --server.',
    );
  if (error instanceof TimeoutError) return new CommandFailure('unavailable', error.message);
  if (error instanceof InvalidReplyError)
    return new CommandFailure(
      'failed',
      error.message,
      `Is ${server} the address of a reactord service? Name another with --server.`,
    );
  if (error instanceof OAuthError) return new CommandFailure('login', error.message);
  const ending = error.code === 'reactor_not_ready' ? 'notRun' : 'failed';
  return new CommandFailure(ending, error.message);
}

function nextFor(error: ApiError): string | undefined {
  const [, user, grant] =
    /The user (\S+) has no permission .*grants \["(\w+)"\]/.exec(error.message) ?? [];
  if (grant !== undefined) return `An admin types: reactord users grant ${user} ${grant}`;
  if (error.status >= 500 && error.requestId !== undefined)
    return `The service's log has more under the request id ${error.requestId}.`;
  return undefined;
}
