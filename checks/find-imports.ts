/**
 * Everything that a TypeScript source imports, types included: import and export … from, import(), and the files named
 * by new URL(…, import.meta.url), which is how workers are started.
 */
export function findImports(source: string): readonly string[] {
  const { masked, literals } = maskLiterals(source);
  const found = importForms.flatMap((form) =>
    [...masked.matchAll(form)].map((match) => literals[Number(match[1])] ?? ''),
  );
  return [...new Set(found)];
}

/** In masked source a literal is a pair of quotes around its number, and there are no comments. */
const importForms: readonly RegExp[] = [
  /\b(?:import|export)\b(?!\s*\()[^;"()=]*?\bfrom\s*"(\d+)"/g,
  /\bimport\s*"(\d+)"/g,
  /\bimport\s*\(\s*"(\d+)"/g,
  /\bnew\s+URL\(\s*"(\d+)"\s*,\s*import\.meta\.url\b/g,
  /\bimport\.meta\.resolve\(\s*"(\d+)"/g,
];

const comment = String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`;
const singleQuoted = String.raw`'(?:\\[\s\S]|[^'\\\n])*'`;
const doubleQuoted = String.raw`"(?:\\[\s\S]|[^"\\\n])*"`;
// A template with blanks is cut at them, so that an import() in a blank is still seen.
const template = String.raw`\x60(?:\\[\s\S]|\$(?!\{)|[^\x60\\$])*(?:\x60|\$\{)`;
const templateRest = String.raw`\}(?:\\[\s\S]|\$(?!\{)|[^\x60\\$])*(?:\x60|\$\{)`;
// A slash begins a regular expression where no value can stand before it.
const regularExpression = String.raw`(?<=(?:^|[=(,:;!&|?{}[\n>]|\breturn|\btypeof)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*`;

const lexeme = new RegExp(
  [comment, regularExpression, singleQuoted, doubleQuoted, template, String.raw`\{`, String.raw`\}`]
    .map((pattern) => `(?:${pattern})`)
    .join('|'),
  'g',
);
const rest = new RegExp(templateRest, 'y');

/** Braces are counted to know which closing brace leads back into a template. */
function maskLiterals(source: string): { masked: string; literals: readonly string[] } {
  const literals: string[] = [];
  const openTemplates: number[] = [];
  let depth = 0;
  let masked = '';
  let at = 0;
  for (let match = lexemeAt(source, at); match !== null; match = lexemeAt(source, at)) {
    const leadsBack = match[0] === '}' && openTemplates.at(-1) === depth;
    const text = leadsBack ? templateRestAt(source, match.index) : match[0];
    masked += source.slice(at, match.index);
    at = match.index + text.length;
    const kind = kindOf(text);
    if (kind === 'open') depth++;
    if (kind === 'close') depth--;
    if (kind === 'template begins') openTemplates.push(depth);
    if (kind === 'template ends') openTemplates.pop();
    if (kind === 'literal') literals.push(text.slice(1, -1));
    masked += replacement(kind, text, literals.length - 1);
  }
  return { masked: masked + source.slice(at), literals };
}

type Kind = 'open' | 'close' | 'template begins' | 'template ends' | 'literal' | 'blank';

function kindOf(text: string): Kind {
  if (text === '{') return 'open';
  if (text === '}') return 'close';
  if (text.startsWith('}')) return text.endsWith('`') ? 'template ends' : 'blank';
  if (text.startsWith('`') && text.endsWith('{')) return 'template begins';
  return /^["'`]/.test(text) ? 'literal' : 'blank';
}

function replacement(kind: Kind, text: string, literal: number): string {
  if (kind === 'open' || kind === 'close') return text;
  return kind === 'literal' ? `"${literal}"` : ' ';
}

function lexemeAt(source: string, at: number): RegExpExecArray | null {
  lexeme.lastIndex = at;
  return lexeme.exec(source);
}

function templateRestAt(source: string, at: number): string {
  rest.lastIndex = at;
  return rest.exec(source)?.[0] ?? '}';
}
