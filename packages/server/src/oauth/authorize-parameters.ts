/** The parameters of /authorize that the service knows. Others are ignored, as RFC 6749 section 3.1 asks. */
const names = [
  'client_id',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'show_dialog',
  'code_challenge',
  'code_challenge_method',
] as const;

type ParameterName = (typeof names)[number];

/** How one parameter came: `unreadable` has broken percent-encoding or is not UTF-8. */
type Parameter =
  | { readonly kind: 'absent' | 'repeated' | 'unreadable' }
  | { readonly kind: 'given'; readonly value: string };

export type Parameters = Readonly<Record<ParameterName, Parameter>> & {
  /** A pair whose very name cannot be read. */
  readonly strayPair: boolean;
};

/**
 * Reads the query as it came. Each pair is read by itself: a broken `state` must not hide who asks and where the
 * answer goes, and of a repeated parameter no value may win.
 */
export function readParameters(query: string): Parameters {
  const found = new Map<string, Parameter>();
  let strayPair = false;
  for (const pair of query.split('&')) {
    if (pair === '') continue;
    const at = pair.indexOf('=');
    const name = decode(at === -1 ? pair : pair.slice(0, at));
    if (name === undefined) strayPair = true;
    else found.set(name, found.has(name) ? { kind: 'repeated' } : read(pair, at));
  }
  const of = (name: ParameterName): Parameter => found.get(name) ?? { kind: 'absent' };
  return {
    strayPair,
    client_id: of('client_id'),
    redirect_uri: of('redirect_uri'),
    response_type: of('response_type'),
    scope: of('scope'),
    state: of('state'),
    show_dialog: of('show_dialog'),
    code_challenge: of('code_challenge'),
    code_challenge_method: of('code_challenge_method'),
  };
}

/** Whether every parameter came at most once and could be read. */
export function eachOnceAndReadable(parameters: Parameters): boolean {
  return (
    !parameters.strayPair && names.every((name) => /^(absent|given)$/.test(parameters[name].kind))
  );
}

export function textOf(parameter: Parameter): string | undefined {
  return parameter.kind === 'given' ? parameter.value : undefined;
}

function read(pair: string, at: number): Parameter {
  const value = decode(at === -1 ? '' : pair.slice(at + 1));
  if (value === undefined) return { kind: 'unreadable' };
  // RFC 6749 section 3.1: a parameter without a value counts as not sent.
  return value === '' ? { kind: 'absent' } : { kind: 'given', value };
}

/** Bytes outside ASCII do not belong into an address: Node hands them on in another encoding than they were sent in. */
function decode(encoded: string): string | undefined {
  if (!/^[\x21-\x7e]*$/.test(encoded)) return undefined;
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
