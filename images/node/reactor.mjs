// Adds up the numbers of a JSON message such as {"numbers": [1, 2, 3]} and gives the sum back as a result.
const {
  MSG,
  _svc_api_server: api,
  _svc_actor_id: reactor,
  _svc_execution_id: execution,
} = process.env;

let numbers;
try {
  ({ numbers } = JSON.parse(MSG ?? ''));
} catch {
  numbers = undefined;
}
if (!Array.isArray(numbers) || !numbers.every((each) => typeof each === 'number')) {
  // A non-zero exit code is a failure, which a reactor with retries tries again.
  console.error('Send JSON such as {"numbers": [1, 2, 3]}.');
  process.exit(1);
}

const sum = numbers.reduce((total, each) => total + each, 0);
console.log(`The sum of ${numbers.length} numbers is ${sum}.`);

const reply = await fetch(`${api}/actors/v2/${reactor}/executions/${execution}/results`, {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${process.env._svc_access_token}`,
    'Content-Type': 'application/octet-stream',
  },
  body: JSON.stringify({ sum }),
});
if (!reply.ok) {
  console.error(`The result was refused: ${reply.status} ${await reply.text()}`);
  process.exit(1);
}
