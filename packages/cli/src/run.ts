import type { Command } from 'commander';
import type { Context, GlobalOptions } from './context.ts';

/** What a command does. */
export type Action<Options> = (
  context: Context,
  operands: Operands,
  options: Options,
) => Promise<void>;

/** The words behind the command, in their order. */
export type Operands = readonly (string | undefined)[];

/**
 * Connects a command with what it does, which is loaded when it is called: help and completion need nothing of it.
 */
export function does<Options extends object>(
  command: Command,
  load: () => Promise<Action<Options>>,
): Command {
  return command.action(async (...given: unknown[]) => {
    const operands = given
      .slice(0, command.registeredArguments.length)
      .flat()
      .map((operand) => (operand === undefined ? undefined : String(operand)));
    const loaded = await import('./context.ts');
    const context = new loaded.Context(command.optsWithGlobals<GlobalOptions>(), process.env);
    const action = await load();
    try {
      await action(context, operands, command.opts<Options>());
    } catch (error) {
      const { failureOf } = await import('./failures.ts');
      throw failureOf(error, context) ?? error;
    }
  });
}
