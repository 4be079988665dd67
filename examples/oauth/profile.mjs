/** Calls the service with a token: whose is it? */
export async function whoIs(accessToken) {
  const reply = await fetch(new URL('/profiles/v2/me', process.env.SERVICE), {
    headers: { Authorization: `Bearer ${accessToken}` },
  });
  if (!reply.ok) throw new Error(`The token was refused: ${reply.status} ${await reply.text()}`);
  return (await reply.json()).username;
}
