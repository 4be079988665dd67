/** The cookie that a browser's session is known by. It ends with the browser; the limits of the session are kept by the service. */
export function sessionCookie(secure: boolean) {
  return {
    // The prefix makes browsers refuse the cookie from other hosts and paths, which needs TLS.
    name: secure ? '__Host-reactord_session' : 'reactord_session',
    options: { httpOnly: true, sameSite: 'lax', path: '/', secure },
  } as const;
}
