/**
 * Blocks of a page as one program, as if they were typed into a prompt one after the other: what one declares, the next
 * ones have, and may declare anew. Each begins its output with its mark.
 */
export function joinModules(blocks: readonly { text: string; mark: string }[]): string {
  const names = new Map<string, Set<string>>();
  const bodies = blocks.map(({ text, mark }) => {
    const body = text
      .replaceAll(/^import \{([^}]+)\} from '([^']+)';$/gm, (_, list: string, from: string) => {
        const known = names.get(from) ?? new Set();
        for (const name of list.split(',')) known.add(name.trim());
        names.set(from, known);
        return '';
      })
      .replaceAll(/^(?:const|let) /gm, 'var ');
    return `process.stdout.write(${JSON.stringify(`${mark}\n`)});\n${body}`;
  });
  const imports = [...names].map(
    ([from, known]) => `import { ${[...known].filter(Boolean).join(', ')} } from '${from}';`,
  );
  return `${[...imports, ...bodies].join('\n')}\n`;
}
