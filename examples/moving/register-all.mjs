// Registers here what another service lists: reads the reply of its GET /actors/v2 from standard input.
// Needs SERVICE and TOKEN, of the service that takes over.
const { SERVICE, TOKEN } = process.env;

/** What a registration takes of a record; the rest is what the old service knew about it. */
const taken = [
  'image',
  'name',
  'description',
  'defaultEnvironment',
  'stateless',
  'hints',
  'webhook',
  'memLimit',
  'maxCpus',
  'maxWorkers',
  'cronSchedule',
  'cronOn',
];

let text = '';
for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk;
const actors = JSON.parse(text).result;

let failed = 0;
for (const actor of actors) {
  // Abaco lists what was never said as null or as an empty text.
  const fields = taken
    .map((name) => [name, actor[name] ?? actor[snake(name)]])
    .filter(([, value]) => value !== undefined && value !== null && value !== '');
  const reply = await fetch(`${SERVICE}/actors/v2`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(fields)),
  });
  const { message, result } = await reply.json();
  if (!reply.ok) failed += 1;
  console.log(`${actor.id} ${actor.name ?? ''} → ${reply.ok ? result.id : message}`);
}
process.exitCode = failed === 0 ? 0 : 1;

function snake(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
