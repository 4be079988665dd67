import { errorRegistry } from '../packages/server/src/errors.ts';
import { code, table } from './markdown.ts';

/** docs/reference/errors.md, from the registry of errors. */
export function errorsPage(): string {
  const rows = Object.entries(errorRegistry)
    .map(([name, entry]) => ({ name, ...entry }))
    .sort((a, b) => a.status - b.status)
    .map(({ name, status, message, when }) => [code(name), String(status), when, code(message)]);
  return `# Errors

<!-- Generated from packages/server/src/errors.ts by \`npm run docs\`. Change it there. -->

Every error that a caller can meet, by HTTP status. A word in braces is filled in with what the request held.

${table(['code', 'status', 'when', 'message'], rows)}
`;
}
