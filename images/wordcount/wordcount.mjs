// Counts words over all messages that it ever got: a reactor with state. Register it with stateless=false; then one
// execution runs at a time, and each begins with what the one before has left.
import { readFileSync } from 'node:fs';

const { env } = process;
const text = env._svc_message_file ? readFileSync(env._svc_message_file, 'utf8') : (env.MSG ?? '');
const { words = [], messages = 0 } = JSON.parse(env._svc_actor_state || '{}');

const counts = new Map(words);
for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]{1,40}/gu))
  counts.set(word, (counts.get(word) ?? 0) + 1);

// A state has 120 KiB at most, so the rarest words are forgotten.
const often = [...counts]
  .sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
  .slice(0, 1000);

const reply = await fetch(`${env._svc_api_server}/actors/v2/${env._svc_actor_id}/state`, {
  method: 'POST',
  headers: { Authorization: `Bearer ${env._svc_access_token}`, 'Content-Type': 'application/json' },
  body: JSON.stringify({ messages: messages + 1, words: often }),
});
if (!reply.ok) {
  const { message } = await reply.json();
  console.error(`The state was refused: ${message}`);
  process.exit(1);
}
console.log(`Messages so far: ${messages + 1}`);
for (const [word, count] of often.slice(0, 10)) console.log(`${count} ${word}`);
