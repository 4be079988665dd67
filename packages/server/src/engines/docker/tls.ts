import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { SettingError } from '../../config-sources.ts';

/** In the form that node:https takes. */
export interface TlsCertificates {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** As in Docker's own client: either variable turns TLS on. The engine's certificate is always verified. */
export function usesTls(environment: Environment): boolean {
  return Boolean(environment['DOCKER_TLS_VERIFY']) || Boolean(environment['DOCKER_CERT_PATH']);
}

/** The certificates of DOCKER_CERT_PATH. */
export function tlsCertificates(environment: Environment): TlsCertificates {
  const folder = environment['DOCKER_CERT_PATH'] || join(homedir(), '.docker');
  const read = (name: string): Buffer => {
    try {
      return readFileSync(join(folder, name));
    } catch {
      throw new SettingError(
        `DOCKER_CERT_PATH: ${join(folder, name)} cannot be read; TLS to the engine needs ca.pem, cert.pem and key.pem there.`,
      );
    }
  };
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') };
}
