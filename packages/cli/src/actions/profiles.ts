import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import { operand } from '../operands.ts';
import type { Operands } from '../run.ts';

export async function list(context: Context): Promise<void> {
  const { current, profiles } = context.file.read();
  const rows = Object.entries(profiles).map(([name, { server, username = '' }]) => ({
    name,
    server,
    username,
    current: name === current,
  }));
  context.output.table(
    rows,
    [
      {
        title: '',
        text: ({ current: is }) => (is ? '*' : ' '),
        paint: (text, _row, colours) => colours.green(text),
      },
      { title: 'PROFILE', text: ({ name }) => name },
      { title: 'USER', text: ({ username }) => username },
      { title: 'SERVICE', text: ({ server }) => server, flexible: true },
    ],
    'You are not logged in anywhere. Log in: reactord login',
  );
}

export async function use(context: Context, operands: Operands): Promise<void> {
  const name = operand(operands, 0);
  await context.file.change((now) => {
    if (now.profiles[name] === undefined)
      throw new CommandFailure(
        'notFound',
        `There is no profile ${JSON.stringify(name)}.`,
        'See: reactord profiles',
      );
    return { ...now, current: name };
  });
  if (context.output.isJson) return context.output.json({ current: name });
  context.output.note(`Commands use ${name} from now on.`);
}
