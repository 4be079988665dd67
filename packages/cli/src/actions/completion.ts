import type { Context } from '../context.ts';
import { CommandFailure } from '../exit-codes.ts';
import type { Operands } from '../run.ts';

/** Each asks `reactord complete`, which knows all commands as they are. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_reactord() {
  local IFS=$'\\n'
  COMPREPLY=($(reactord complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _reactord reactord
`,
  zsh: `#compdef reactord
_reactord() {
  local -a found
  local line rest
  while IFS=$'\\t' read -r line rest; do
    found+=("\${line//:/\\\\:}:\${rest}")
  done < <(reactord complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe reactord found; else _files; fi
}
compdef _reactord reactord
`,
  fish: `complete -c reactord -f -a '(reactord complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
complete -c reactord -n 'contains -- (commandline -opc)[-1] --file --batch --from' -F
`,
};

export async function completion(context: Context, [shell = '']: Operands): Promise<void> {
  const script = scripts[shell];
  if (script === undefined)
    throw new CommandFailure(
      'usage',
      `There is no completion for ${JSON.stringify(shell)}; there is one for bash, zsh and fish.`,
    );
  context.output.raw(script);
}
