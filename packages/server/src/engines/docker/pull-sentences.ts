import { PullFailed } from '../engine.ts';
import { describeReference, type ImageReference } from '../image-reference.ts';

/** Says in words what the engine says in its own, for the person who named the image. */
export function pullFailure(
  image: ImageReference,
  words: string,
  hadCredentials: boolean,
): PullFailed {
  const named = describeReference(image);
  const { registry } = image;
  const login = hadCredentials
    ? `registry ${registry} refuses the pull: these registry credentials are not valid for ${image.name}`
    : `registry ${registry} refuses the pull: log in with registry credentials`;

  if (/toomanyrequests|rate limit/i.test(words))
    return new PullFailed(
      'refused',
      `registry ${registry} limits how many pulls it serves; try again later`,
    );
  if (/no matching manifest|no match for platform|image operating system/i.test(words))
    return new PullFailed(
      'not found',
      `image ${named} does not exist for this machine's processor`,
    );
  // The default registry hides whether a repository exists from those who may not read it.
  if (/repository does not exist or may require/i.test(words) && !/no basic auth/i.test(words))
    return new PullFailed(
      'not found',
      `image ${named} was not found in registry ${registry}, or it is private and needs registry credentials`,
    );
  if (
    /no basic auth credentials|unauthorized|authentication required|access.*denied|denied:|forbidden/i.test(
      words,
    )
  )
    return new PullFailed('refused', login);
  if (/manifest unknown|not found|name unknown|does not exist|(?<![:\d])404\b/i.test(words))
    return new PullFailed('not found', `image ${named} was not found in registry ${registry}`);
  const network = networkReason(words);
  if (network !== undefined)
    return new PullFailed('unreachable', `registry ${registry} cannot be reached (${network})`);
  if (/invalid reference|invalid tag|repository name must be|invalid repository/i.test(words))
    return new PullFailed('invalid reference', `${named} is not a valid image reference`);
  return new PullFailed('failed', `image ${named} could not be pulled (${words})`);
}

const networkReasons: readonly (readonly [RegExp, string])[] = [
  [/no such host|server misbehaving|lookup /i, 'no such host'],
  [/connection refused/i, 'connection refused'],
  [/i\/o timeout|deadline exceeded|Client\.Timeout|TLS handshake timeout/i, 'no answer in time'],
  [/no route to host|network is unreachable/i, 'no route to it'],
  [/server gave HTTP response to HTTPS client/i, 'it does not speak HTTPS'],
  [/x509|certificate/i, 'its certificate is not trusted'],
  [/connection reset|\bEOF\b|broken pipe/i, 'it breaks off the connection'],
  [/(?<![:\d])50[234]\b|bad gateway|service unavailable/i, 'it is out of service'],
];

function networkReason(words: string): string | undefined {
  return networkReasons.find(([pattern]) => pattern.test(words))?.[1];
}
