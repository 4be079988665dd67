import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

const pagesFolder = new URL('../../src/oauth/pages/', import.meta.url);
const css = readFileSync(new URL('style.css', pagesFolder), 'utf8');
const logo = readFileSync(new URL('logo.svg', pagesFolder), 'utf8');

function paletteOf(source: string): Map<string, string> {
  const block = source.slice(
    source.indexOf(':root {'),
    source.indexOf('}', source.indexOf(':root {')),
  );
  return new Map(
    [...block.matchAll(/--([a-z-]+):\s*(#[0-9a-f]{6});/g)].map(([, name = '', colour = '']) => [
      name,
      colour,
    ]),
  );
}

/** Relative luminance, as WCAG 2.2 defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const text = [
  ['ink', 'ground'],
  ['ink', 'surface'],
  ['ink', 'tint'],
  ['ink-soft', 'surface'],
  ['accent', 'surface'],
  ['accent-strong', 'tint'],
  ['on-accent', 'accent'],
  ['on-accent', 'accent-strong'],
  ['alert', 'alert-ground'],
] as const;

const edges = [
  ['edge', 'surface'],
  ['accent', 'surface'],
  ['focus', 'surface'],
  ['focus', 'ground'],
] as const;

const light = paletteOf(css);
const dark = paletteOf(css.slice(css.indexOf('(prefers-color-scheme: dark)')));

test('the contrast is computed as WCAG does', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#767676', '#ffffff').toFixed(2), '4.54');
});

test('light and dark have the same colours', () => {
  assert.ok(light.size > 10);
  assert.deepEqual([...dark.keys()], [...light.keys()]);
});

for (const [scheme, palette] of Object.entries({ light, dark })) {
  const colour = (name: string) => palette.get(name) ?? assert.fail(`no colour ${name}`);

  describe(`the ${scheme} palette`, () => {
    for (const [front, back] of text) {
      test(`${front} on ${back} can be read (4.5 : 1)`, () => {
        assert.ok(contrast(colour(front), colour(back)) >= 4.5);
      });
    }
    for (const [front, back] of edges) {
      test(`${front} on ${back} can be seen (3 : 1)`, () => {
        assert.ok(contrast(colour(front), colour(back)) >= 3);
      });
    }
    test('the logo can be seen (3 : 1)', () => {
      const colours = logo.match(/#[0-9a-f]{6}/g) ?? [];
      assert.ok(colours.length > 0);
      for (const each of colours) assert.ok(contrast(each, colour('ground')) >= 3, each);
    });
  });
}
