import { shownName } from './reveal.ts';

/** Where the browser goes with the answer, in the words of a page. */
export interface Destination {
  readonly text: string;
  readonly note: string;
}

const loopback = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

// The longest name the DNS has, and a port.
const hostLimit = 253 + ':65535'.length;

/**
 * The host comes from the URL parser, so it is the one the browser will visit: names in other scripts stay in their
 * xn-- form, and a "user@" in front does not pass for a host.
 */
export function destinationOf(redirectUri: string): Destination {
  const url = URL.parse(redirectUri);
  if (url === null) return { text: shownName(redirectUri), note: '' };
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    // The host of such an address means nothing: what decides is which application registered the scheme.
    return {
      text: shownName(url.protocol),
      note: 'an application installed on this computer or phone',
    };
  }
  // Whose host it is stands at its end, so the end is what must stay.
  const text = url.host.length > hostLimit ? `…${url.host.slice(-hostLimit)}` : url.host;
  if (loopback.test(url.hostname)) return { text, note: 'an application on this computer' };
  return { text, note: url.protocol === 'http:' ? 'over a connection without encryption' : '' };
}
