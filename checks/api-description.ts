import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../packages/server/src/config-sources.ts';
import { buildApp } from '../packages/server/src/http/app.ts';
import { createLog } from '../packages/server/src/http/service-log.ts';
import { assembleParts } from '../packages/server/src/parts.ts';

/** A schema of the description, as far as types are made from it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;

export interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** What the service says of itself at /openapi.json, without a service that listens or an engine. */
export async function readDescription(): Promise<Description> {
  const dataFolder = mkdtempSync(join(tmpdir(), 'reactord-description-'));
  try {
    // Not with the settings of whoever runs this.
    const environment = { REACTORD_LOG_LEVEL: 'silent', REACTORD_CONFIG: '/dev/null' };
    const config = readConfig({ flags: [], environment });
    const log = createLog(config);
    const parts = await assembleParts({ config, environment: {}, dataFolder, log });
    const app = await buildApp({ ...parts, config, log, baseUrl: () => 'http://localhost' });
    try {
      const reply = await app.inject('/openapi.json');
      return JSON.parse(reply.body);
    } finally {
      await app.close();
      await parts.stop();
    }
  } finally {
    rmSync(dataFolder, { recursive: true });
  }
}
