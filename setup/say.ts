/** One line for the person at the terminal; standard output belongs to the program that is being set up. */
export function say(sentence: string): void {
  process.stderr.write(`reactord: ${sentence}\n`);
}
