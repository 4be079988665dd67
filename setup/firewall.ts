import { type CommandResult, runCommand } from './command.ts';
import { say } from './say.ts';

const probeChain = 'REACTORD-PROBE';

/**
 * Docker connects containers to the network with iptables. Debian's iptables speaks to nftables, which some kernels
 * lack; there the legacy one is made the machine's iptables, as nobody can have used the other.
 */
export async function findFirewallTool(): Promise<'iptables' | 'none'> {
  if (await canTranslateAddresses('iptables')) return 'iptables';
  if (await canTranslateAddresses('iptables-legacy')) {
    say('this kernel has no nftables; making iptables-legacy the iptables of this machine…');
    await runCommand('update-alternatives', ['--set', 'iptables', '/usr/sbin/iptables-legacy']);
    await runCommand('update-alternatives', ['--set', 'ip6tables', '/usr/sbin/ip6tables-legacy']);
    if (await canTranslateAddresses('iptables')) return 'iptables';
  }
  say('iptables does not work here, so containers will reach this machine but nothing beyond it.');
  return 'none';
}

/** Tries the kinds of rule that Docker needs, in a chain that nothing leads to. */
async function canTranslateAddresses(program: string): Promise<boolean> {
  const inNat = (...rule: string[]): Promise<CommandResult> =>
    runCommand(program, ['--wait', '10', '--table', 'nat', ...rule]);
  if ((await inNat('--new-chain', probeChain)).code !== 0) {
    // Left over from a probe that was interrupted?
    if ((await inNat('--flush', probeChain)).code !== 0) return false;
  }
  const local = ['--match', 'addrtype', '--dst-type', 'LOCAL', '--jump', 'RETURN'];
  const matched = await inNat('--append', probeChain, ...local);
  const masked = await inNat('--append', probeChain, '--jump', 'MASQUERADE');
  await inNat('--flush', probeChain);
  await inNat('--delete-chain', probeChain);
  return matched.code === 0 && masked.code === 0;
}
