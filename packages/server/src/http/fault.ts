import type { ServiceError } from '../errors.ts';

/** Beside the envelope of what is refused at the door: existing clients read it before they refresh their token. */
interface Fault {
  readonly code: number;
  readonly message: string;
  readonly description: string;
}

export function faultOf(error: ServiceError): Fault | undefined {
  switch (error.code) {
    case 'missing_credentials':
      return { code: 900902, message: 'Missing Credentials', description: error.message };
    case 'invalid_credentials':
      return { code: 900904, message: 'Invalid Credentials', description: error.message };
    case 'not_subscribed':
    case 'no_grant':
      return { code: 900908, message: 'Resource forbidden', description: error.message };
    case 'too_many_requests':
      return { code: 900800, message: 'Message throttled out', description: error.message };
    default:
      return undefined;
  }
}
