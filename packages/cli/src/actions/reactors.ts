import type { Api } from '@reactord/client';
import type { Context } from '../context.ts';
import { operand, reactorId } from '../operands.ts';
import type { Operands } from '../run.ts';
import { ago, harmless, paintStatus, span } from '../terminal/words.ts';

export async function list(
  context: Context,
  _operands: Operands,
  { all }: { readonly all?: boolean },
): Promise<void> {
  const client = await context.client();
  const reactors = await client.reactors.list({ limit: 1000, all }).toArray();
  context.output.table(
    reactors,
    [
      { title: 'ID', text: ({ id }) => id },
      { title: 'NAME', text: ({ name }) => name ?? '', flexible: true },
      {
        title: 'STATUS',
        text: ({ status }) => status,
        paint: (text, { status }, colours) => paintStatus(text, status, colours),
      },
      { title: 'IMAGE', text: ({ image }) => image, flexible: true },
      { title: 'OWNER', text: ({ owner }) => owner, flexible: true },
      {
        title: 'MADE',
        text: ({ createTime }) => ago(createTime),
        plain: ({ createTime }) => createTime,
      },
    ],
    'There are none yet. Register one: reactord reactors create IMAGE --name NAME',
  );
}

export async function show(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const id = await reactorId(client, operand(operands, 0));
  showReactor(context, await client.reactors.get(id));
}

export function showReactor({ output }: Context, reactor: Api.Reactor): void {
  const { status, statusMessage, defaultEnvironment, permissions } = reactor;
  const shared = Object.entries(permissions).filter(([user]) => user !== reactor.owner);
  output.facts(reactor, [
    ['Id', reactor.id],
    ['Name', reactor.name ?? undefined],
    ['Description', reactor.description || undefined],
    [
      'Status',
      statusMessage === '' ? status : `${status}: ${statusMessage}`,
      (text) => paintStatus(text, status, output.colours),
    ],
    ['Image', reactor.image],
    ['Digest', reactor.imageDigest ?? undefined],
    ['Revision', String(reactor.revision)],
    ['Owner', reactor.owner],
    ['Shared with', shared.map(([user, level]) => `${user} (${level})`).join(', ') || undefined],
    [
      'Environment',
      Object.entries(defaultEnvironment)
        .map(([name, value]) => `${name}=${harmless(value)}`)
        .join('\n') || undefined,
    ],
    ['State', reactor.stateless ? undefined : JSON.stringify(reactor.state ?? null)],
    ['At once', reactor.stateless ? String(reactor.maxWorkers) : '1 (stateful)'],
    ['Limits', `${reactor.memLimit} memory, ${reactor.maxCpus} CPU, ${span(reactor.timeout)}`],
    ['Retries', reactor.retries === 0 ? undefined : String(reactor.retries)],
    ['Logs kept', span(reactor.logEx)],
    ['Link', reactor.link ?? undefined],
    ['Webhook', reactor.webhook ?? undefined],
    ['Schedule', scheduleWords(reactor)],
    ['Made', ago(reactor.createTime)],
    ['Changed', ago(reactor.lastUpdateTime)],
  ]);
}

function scheduleWords({ cronSchedule, cronOn, cronNextTime }: Api.Reactor): string | undefined {
  if (cronSchedule === null) return undefined;
  if (!cronOn) return `${cronSchedule} (off)`;
  return cronNextTime === null ? cronSchedule : `${cronSchedule}, next ${ago(cronNextTime)}`;
}

export async function remove(context: Context, operands: Operands): Promise<void> {
  const client = await context.client();
  const given = operands.filter((each) => each !== undefined);
  // All names are looked up before anything is deleted: a typing mistake deletes nothing.
  const ids = [];
  for (const each of given) ids.push(await reactorId(client, each));
  for (const id of ids) await client.reactors.delete(id);
  if (context.output.isJson) return context.output.json({ deleted: ids });
  for (const [at, id] of ids.entries())
    context.output.note(`Deleted ${given[at]}${given[at] === id ? '' : ` (${id})`}.`);
}
