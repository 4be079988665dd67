import { durationInWords } from './duration.ts';
import { paragraphs, shownName } from './reveal.ts';

/** An application that asks for access. */
export interface Application {
  readonly name: string;
  /** The username of who registered it. */
  readonly owner: string;
  readonly description: string | null;
}

/** What it asks for. */
export interface Access {
  readonly scopes: readonly Scope[];
  readonly lifetimeSeconds: number;
  /** Whether a refresh token comes with it. */
  readonly renewable: boolean;
}

const permissionOf = {
  PRODUCTION:
    'Act for you in everything this service offers: your profile, your reactors and what they run',
} as const;

type Scope = keyof typeof permissionOf;

interface ApplicationView {
  readonly name: string;
  readonly owner: string;
  readonly description: readonly string[];
}

export function applicationView(application: Application): ApplicationView {
  return {
    name: shownName(application.name),
    owner: shownName(application.owner),
    description: application.description === null ? [] : paragraphs(application.description),
  };
}

interface AccessView {
  readonly permissions: readonly string[];
  readonly lifetime: string;
  readonly renewal: string;
}

export function accessView(access: Access): AccessView {
  return {
    permissions: access.scopes.map((scope) => permissionOf[scope]),
    lifetime: `Access lasts ${durationInWords(access.lifetimeSeconds)}.`,
    renewal: access.renewable
      ? 'The application can renew it by itself, until you revoke it under Connected applications.'
      : 'The application cannot renew it by itself. After that it has to ask you again.',
  };
}
