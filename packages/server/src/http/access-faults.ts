import type { ServiceError } from '../errors.ts';

/** What clients of the ancestor look for in the body of a refusal before they refresh their token. */
const faults = {
  missing: { code: 900902, message: 'Missing Credentials' },
  invalid: { code: 900904, message: 'Invalid Credentials' },
  throttled: { code: 900800, message: 'Message throttled out' },
  forbidden: { code: 900908, message: 'Resource forbidden' },
} as const;

export function withFault(error: ServiceError, kind: keyof typeof faults): ServiceError {
  return error.withMembers({ fault: { ...faults[kind], description: error.message } });
}
