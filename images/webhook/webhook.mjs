// Takes what a service such as GitHub posts to the reactor's messages by a nonce, and says in one line what happened.
//
// The body of the request is the message, unchanged. Its headers do not reach a container. So the nonce in the address is
// what keeps strangers out; and a signature can be checked where a proxy in front passes the header on as the parameter
// X_HUB_SIGNATURE_256 of the address (docs/guides/github-webhook.md). With WEBHOOK_SECRET set, a message without a valid
// signature is refused.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

const { env } = process;
const body = env._svc_message_file
  ? readFileSync(env._svc_message_file)
  : Buffer.from(env.MSG ?? '');

if (env.WEBHOOK_SECRET) {
  const problem = signatureProblem(env.WEBHOOK_SECRET, env.X_HUB_SIGNATURE_256);
  if (problem) {
    console.error(`Refused: ${problem}.`);
    process.exit(1);
  }
  console.log('The signature is valid.');
}

let event;
try {
  event = JSON.parse(body.toString());
} catch {
  console.error(
    'Refused: this is not JSON; set the content type of the webhook to application/json.',
  );
  process.exit(1);
}
console.log(sentence(event));

function signatureProblem(secret, signature) {
  if (!signature) return 'there is no signature';
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    return 'the signature does not fit the body';
  return undefined;
}

// GitHub names the kind of event in a header, too; what is in the body tells it just as well.
function sentence(event) {
  const where = event.repository?.full_name ?? 'somewhere';
  const who = event.pusher?.name ?? event.sender?.login ?? 'somebody';
  if (event.zen) return `Ping from ${where}: ${event.zen}`;
  if (event.commits) {
    const count = event.commits.length;
    return `${who} pushed ${count} commit${count === 1 ? '' : 's'} to ${event.ref} of ${where}.`;
  }
  const subject = event.pull_request ?? event.issue ?? event.release;
  if (subject) return `${who} ${event.action} "${subject.title ?? subject.name}" in ${where}.`;
  return `${who} ${event.action ?? 'did something'} in ${where}; the message has ${Object.keys(event).join(', ')}.`;
}
