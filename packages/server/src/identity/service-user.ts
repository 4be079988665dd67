/**
 * The service itself, as the owner of what is its own. It is a row among the users because everything that is owned
 * points to one, and nothing else of a user: it has no password, and no list and no name leads to it.
 */
export const serviceUser = {
  id: 'service',
  /** People are numbered from 1001. */
  uid: 0,
  /** With a space, which no user's name has. Stands on pages as who registered an application. */
  username: 'this service',
} as const;
