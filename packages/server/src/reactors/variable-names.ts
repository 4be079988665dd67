/** The longest that Linux takes as one entry of the environment: name, `=`, value and the byte that ends it. */
export const longestVariable = 128 * 1024;

const shape = /^[A-Za-z_][A-Za-z0-9_]{0,254}$/;

/** What is wrong with the name of a variable that a registration or a message sets; undefined when nothing is. */
export function variableNameProblem(
  name: string,
  secondPrefix: string | undefined,
): string | undefined {
  if (!shape.test(name) || name === '__proto__')
    return 'is not a name for an environment variable: letters, digits and underscores, not beginning with a digit, at most 255';
  if (name === '_actor_configs') return 'is reserved: _actor_configs is all configs together';
  if (name === 'MSG') return 'is reserved: MSG is the message';
  const prefix = ['_svc_', secondPrefix].find(
    (reserved) => reserved !== undefined && name.startsWith(reserved),
  );
  if (prefix !== undefined)
    return `is reserved: names that begin with ${prefix} are the service's own`;
  // A message may replace a variable that is registered; no sender is to choose what an image's programs load.
  if (name.startsWith('LD_'))
    return 'is reserved: names that begin with LD_ steer the loading of programs; set them in the image';
  return undefined;
}
