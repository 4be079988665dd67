import { settings } from '../packages/server/src/config.ts';
import { environmentName, flagName } from '../packages/server/src/config-sources.ts';
import { code, table } from './markdown.ts';

/** docs/reference/settings.md, from the table of settings. */
export function settingsPage(): string {
  const rows = Object.entries(settings).map(([name, setting]) => [
    // The config file cannot name itself.
    [environmentName(name), flagName(name), ...(name === 'config' ? [] : [name])]
      .map(code)
      .join('<br>'),
    shownDefault(setting.defaultText, setting.defaultValue),
    setting.allows,
    setting.doc + (setting.secret ? ' Never shown in messages or logs.' : ''),
  ]);
  return `# Settings

<!-- Generated from packages/server/src/config.ts by \`npm run docs\`. Change it there. -->

Every setting has three spellings: a variable of the environment, a flag, and a name in the config file. A flag wins over
the environment, the environment over the file, the file over the default. A setting that is unknown or has a value that
it does not allow ends the start with a sentence that names it. An empty variable counts as not set.

\`\`\`sh
# Not run by the tests: each would stay running, and the last one writes a file into this folder
npm start -- --port 9000            # a flag
REACTORD_PORT=9000 npm start        # the environment
echo 'port = 9000' >>reactord.conf  # the config file
\`\`\`

${table(['environment, flag, config file', 'default', 'allows', 'what it is for'], rows)}

## Read by \`npm start\` only

${table(
  ['environment', 'default', 'allows', 'what it is for'],
  setupVariables.map(([name, standard, allows, doc]) => [code(name), standard, allows, doc]),
)}
`;
}

const setupVariables = [
  [
    'REACTORD_SETUP',
    'not set',
    '`never`, or not set',
    'Where no container engine answers, `npm start` installs and starts Docker if it runs as root on Debian or Ubuntu. ' +
      '`never` leaves the machine as it is; the service then starts without an engine.',
  ],
  [
    'DOCKER_HOST',
    'not set',
    '`unix:///path/of/socket` or `tcp://host:port`',
    'The container engine, where the setting `engine` is not given. The service reads it too.',
  ],
  [
    'DOCKER_TLS_VERIFY',
    'not set',
    'anything',
    'Speak TLS with an engine at a `tcp://` address. So does `DOCKER_CERT_PATH`.',
  ],
  [
    'DOCKER_CERT_PATH',
    '`~/.docker`',
    'the path of a folder',
    'Where `ca.pem`, `cert.pem` and `key.pem` for that are.',
  ],
] as const;

function shownDefault(text: string | undefined, value: unknown): string {
  if (text === undefined) return 'not set';
  // Without a default value, the text is a description.
  if (value === undefined) return text;
  return text === '' ? 'empty' : code(text);
}
