import { amd64Code } from './holder-code-amd64.ts';
import { arm64Code } from './holder-code-arm64.ts';
import { staticProgram } from './static-program.ts';

/**
 * The whole program of a holder. It holds a network by being there, and gathers what containers send: each datagram
 * that arrives at the socket `sink` is appended to the file `spool`, its length before it in four bytes, least first.
 * What does not fit into the file, which is limited, is dropped as a whole. Whoever connects to the socket `bell` is
 * hung up on when everything sent before is in the file. It ends when a signal asks it to; without the folder /results
 * it does nothing but wait for that. Static, and without a library.
 */

/** Where the holder has its folder. */
export const holderFolder = '/results';

/** What stands behind the code, in this order: it is found there by its distance. */
const constants = Buffer.concat([
  // Bit n - 1 stands for signal n. Blocked are HUP, INT, QUIT, TERM, and XFSZ, with which a full file would kill.
  Buffer.from('0740000100000000', 'hex'),
  // Those that end it.
  Buffer.from('0740000000000000', 'hex'),
  // AF_UNIX and a path.
  Buffer.from(`\x01\0${holderFolder}/sink\0`, 'latin1'),
  Buffer.from(`\x01\0${holderFolder}/bell\0`, 'latin1'),
  Buffer.from(`${holderFolder}/spool\0`, 'latin1'),
]);

/** The executable for an engine's architecture, or undefined where there is none for it. */
export function holderProgram(architecture: string): Buffer | undefined {
  return staticProgram(architecture, { amd64: amd64Code, arm64: arm64Code }, constants);
}
