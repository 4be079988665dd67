import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** As in Docker's own client: either variable turns TLS on. The engine's certificate is always verified. */
export function usesTls(environment: Environment): boolean {
  return Boolean(environment['DOCKER_TLS_VERIFY']) || Boolean(environment['DOCKER_CERT_PATH']);
}

/** The certificates of DOCKER_CERT_PATH, in the form that node:https takes. */
export function tlsCertificates(environment: Environment): {
  ca: Buffer;
  cert: Buffer;
  key: Buffer;
} {
  const folder = environment['DOCKER_CERT_PATH'] || join(homedir(), '.docker');
  const read = (name: string) => readFileSync(join(folder, name));
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') };
}
