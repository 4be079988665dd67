import type { OwnPath } from './pages/templates.ts';

/**
 * What waits for a login. Forms and our own addresses carry it as one word: the id of an authorization request, or the
 * code of a device. It never holds an address, so that nobody can be sent elsewhere with it.
 */
export type Waiting =
  | { readonly kind: 'account' }
  | { readonly kind: 'device'; readonly userCode: string | undefined }
  | { readonly kind: 'application'; readonly id: string };

/** Undefined: no such word was ever given out. */
export function readWaiting(word: string | undefined): Waiting | undefined {
  if (word === undefined || word === '') return { kind: 'account' };
  const device = /^device(?:-([A-Z]{4}-[A-Z]{4}))?$/.exec(word);
  if (device !== null) return { kind: 'device', userCode: device[1] };
  return /^[0-9A-Za-z]{14}$/.test(word) ? { kind: 'application', id: word } : undefined;
}

export function waitingWord(waiting: Waiting): string {
  switch (waiting.kind) {
    case 'account':
      return '';
    case 'device':
      return waiting.userCode === undefined ? 'device' : `device-${waiting.userCode}`;
    case 'application':
      return waiting.id;
  }
}

/** Where a person who is logged in goes on. */
export function pathOf(waiting: Waiting): OwnPath {
  switch (waiting.kind) {
    case 'account':
      return '/account/applications';
    case 'device':
      return waiting.userCode === undefined ? '/device' : `/device?user_code=${waiting.userCode}`;
    case 'application':
      return `/consent?request=${waiting.id}`;
  }
}

export function loginPathOf(waiting: Waiting): OwnPath {
  const word = waitingWord(waiting);
  return word === '' ? '/login' : `/login?request=${word}`;
}

/** A device's code as people type it, brought into the one form that we write; undefined when it cannot be one. */
export function readUserCode(typed: string | undefined): string | undefined {
  const letters = typed?.replace(/[\s-]/g, '').toUpperCase() ?? '';
  return /^[A-Z]{8}$/.test(letters) ? `${letters.slice(0, 4)}-${letters.slice(4)}` : undefined;
}
