import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applicationsPage } from '../../src/oauth/pages/applications.ts';
import { pageAssets } from '../../src/oauth/pages/assets.ts';
import { consentPage } from '../../src/oauth/pages/consent.ts';
import { destinationOf } from '../../src/oauth/pages/destination.ts';
import {
  deviceCodePage,
  deviceConfirmPage,
  deviceDonePage,
  formatUserCode,
} from '../../src/oauth/pages/device.ts';
import { durationInWords } from '../../src/oauth/pages/duration.ts';
import { errorPage } from '../../src/oauth/pages/error.ts';
import { loginPage, tooManyAttempts, wrongCredentials } from '../../src/oauth/pages/login.ts';
import { loggedOutPage, noticePage } from '../../src/oauth/pages/notice.ts';
import { paragraphs, reveal, shownName } from '../../src/oauth/pages/reveal.ts';
import { templateSet } from '../../src/oauth/pages/templates.ts';
import { type Element, elementsOf, textOf } from './page-elements.ts';

const pagesFolder = new URL('../../src/oauth/pages/', import.meta.url);

/** Every page, with one text in every place that somebody else can fill. */
function everyPage(text: string) {
  const form = { action: '/form', switchAction: '/switch', csrf: text, requestId: text } as const;
  const application = { name: text, owner: text, description: text };
  const access = { scopes: ['PRODUCTION'], lifetimeSeconds: 14_400, renewable: true } as const;
  const decided = { ...form, application, access, username: text };
  return {
    loginForApplication: loginPage({
      ...form,
      purpose: { kind: 'application', name: text, owner: text },
      username: text,
      error: text,
    }),
    loginForDevice: loginPage({ ...form, purpose: { kind: 'device' }, username: '', error: null }),
    loginForAccount: loginPage({
      ...form,
      requestId: null,
      purpose: { kind: 'account' },
      username: '',
      error: null,
    }),
    consent: consentPage({ ...decided, redirectUri: 'https://app.example.org/cb' }),
    consentUnparsable: consentPage({ ...decided, redirectUri: text }),
    error: errorPage({ title: text, problem: text, advice: text }),
    deviceCode: deviceCodePage({ ...form, userCode: text, error: text, username: text }),
    deviceConfirm: deviceConfirmPage({ ...decided, userCode: text }),
    deviceApproved: deviceDonePage({ approved: true }),
    deviceDenied: deviceDonePage({ approved: false }),
    applications: applicationsPage({
      revokeAction: '/revoke',
      logoutAction: '/logout',
      csrf: text,
      username: text,
      applications: [1, 2].map(() => ({
        consentId: text,
        name: text,
        owner: text,
        redirectUri: text,
        since: new Date('2026-03-14T10:00:00Z'),
        lastUsed: null,
      })),
      notice: text,
    }),
    noApplications: applicationsPage({
      revokeAction: '/revoke',
      logoutAction: '/logout',
      csrf: text,
      username: text,
      applications: [],
      notice: null,
    }),
    loggedOut: loggedOutPage({ loginPath: '/login' }),
    notice: noticePage({ title: text, message: text, link: { href: '/', text } }),
  };
}

function named(elements: readonly Element[], name: string): Element[] {
  return elements.filter((element) => element.name === name);
}

function only(
  elements: readonly Element[],
  name: string,
  attribute: string,
  value: string,
): Element {
  const found = named(elements, name).filter((each) => each.attributes.get(attribute) === value);
  const [first] = found;
  assert.ok(first !== undefined && found.length === 1, `one ${name} with ${attribute}=${value}`);
  return first;
}

function assertInert(elements: readonly Element[]): void {
  for (const element of elements) {
    assert.ok(!['script', 'style', 'iframe', 'object', 'base'].includes(element.name));
    for (const [attribute, value] of element.attributes) {
      assert.doesNotMatch(attribute, /^on|^style$/);
      if (attribute !== 'value') assert.doesNotMatch(value, /^\s*(?:javascript|data):/i);
    }
  }
}

const ordinary = everyPage('Tide Charts');
const consentInput = {
  action: '/authorize/decision',
  switchAction: '/authorize/switch',
  csrf: 'csrf-1',
  requestId: 'request-1',
  application: { name: 'Tide Charts', owner: 'grace', description: null },
  redirectUri: 'https://tides.example.org/cb',
  access: { scopes: ['PRODUCTION'], lifetimeSeconds: 14_400, renewable: true },
  username: 'ada',
} as const;

describe('every page', () => {
  for (const [name, html] of Object.entries(ordinary)) {
    const elements = elementsOf(html);

    test(`${name} is a titled document in a language, with one main and one first heading`, () => {
      assert.match(html, /^<!doctype html>\n<html lang="en">/);
      assert.match(html, /<title>[^<]+ · reactord<\/title>/);
      assert.equal(named(elements, 'main').length, 1);
      assert.equal(named(elements, 'h1').length, 1);
    });

    test(`${name} has no script, no inline style and no event handler`, () => {
      assertInert(elements);
    });

    test(`${name} loads only its own assets`, () => {
      for (const element of elements.filter((each) => ['link', 'img'].includes(each.name))) {
        const address = element.attributes.get('href') ?? element.attributes.get('src') ?? '';
        assert.ok(pageAssets.has(address), address);
      }
    });

    test(`${name} posts every form, with a CSRF token, to a path of this service`, () => {
      for (const form of named(elements, 'form')) {
        assert.equal(form.attributes.get('method'), 'post');
        assert.match(form.attributes.get('action') ?? '', /^\/[a-z]/);
        const tokens = form.inside.filter((each) => each.attributes.get('name') === 'csrf');
        assert.equal(tokens.length, 1);
        assert.equal(tokens[0]?.attributes.get('type'), 'hidden');
      }
    });

    test(`${name} ties a label to every visible field and uses no id twice`, () => {
      const ids = elements.flatMap((element) => element.attributes.get('id') ?? []);
      assert.deepEqual(ids, [...new Set(ids)]);
      const labels = named(elements, 'label').map((label) => label.attributes.get('for'));
      for (const field of named(elements, 'input')) {
        if (field.attributes.get('type') === 'hidden') continue;
        assert.ok(labels.includes(field.attributes.get('id')));
        for (const id of (field.attributes.get('aria-describedby') ?? '').split(' ')) {
          assert.ok(id === '' || ids.includes(id), `described by ${id}`);
        }
      }
    });
  }
});

describe('hostile text', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus='alert(1)",
    '</title></main><form action=//evil.example>',
    '<%= it.csrf %><%~ it.body %>',
    '&lt;b&gt;&amp;',
    '{{7*7}}`',
    'javascript:alert(1)',
    'x'.repeat(10_000),
    '<'.repeat(10_000),
  ];
  const shapeOf = (html: string) =>
    elementsOf(html).map((element) => [element.name, ...element.attributes.keys()]);

  test('never adds an element or an attribute', () => {
    const expected = new Map(Object.entries(ordinary));
    // A redirect address that can be parsed adds a note to these two, so their shape depends on the text.
    const varying = ['consentUnparsable', 'applications'];
    for (const text of hostile) {
      for (const [name, html] of Object.entries(everyPage(text))) {
        assertInert(elementsOf(html));
        if (varying.includes(name)) continue;
        assert.deepEqual(
          shapeOf(html),
          shapeOf(expected.get(name) ?? ''),
          `${name}: ${text.slice(0, 60)}`,
        );
      }
    }
  });

  test('never adds an element, whatever it is', () => {
    const count = (html: string) => elementsOf(html).length;
    const expected = count(ordinary.error);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const html = errorPage({ title: text, problem: text, advice: text });
        assert.equal(count(html), expected);
        assert.ok(html.isWellFormed());
      }),
    );
  });

  test('comes back from a hidden field or the username exactly as it was', () => {
    const text = `a"b'c<d>&e\u202Ef`;
    const elements = elementsOf(everyPage(text).loginForApplication);
    for (const field of ['csrf', 'request', 'username']) {
      assert.equal(only(elements, 'input', 'name', field).attributes.get('value'), text);
    }
  });

  test('shows characters that hide or turn the writing as their code', () => {
    assert.equal(reveal('Admin\u202Egpj.exe'), 'Admin[U+202E]gpj.exe');
    assert.equal(reveal('\u2066a\u2069\u200F\u061C'), '[U+2066]a[U+2069][U+200F][U+061C]');
    assert.equal(reveal('Ad\u200Bmin\u00AD\uFEFF\u3164'), 'Ad[U+200B]min[U+00AD][U+FEFF][U+3164]');
    assert.equal(reveal('a\u0000b\nc\u0085\u2028'), 'a[U+0000]b[U+000A]c[U+0085][U+2028]');
    assert.equal(reveal('Admin\u200D\uFE0F\u{E0041}'), 'Admin[U+200D][U+FE0F][U+E0041]');
    assert.equal(reveal('half \uD83D'), 'half [U+D83D]');
  });

  test('keeps emoji and the joiners that scripts need', () => {
    for (const text of [
      '👩‍👩‍👧 ❤️‍🔥 👍🏽 1️⃣',
      'می\u200Cخواهم',
      'क्\u200Dष',
      'Zoë',
      'Việt Nam',
      '東京',
    ]) {
      assert.equal(reveal(text), text);
    }
  });

  test('cannot pile marks over the lines around it', () => {
    assert.equal(reveal(`Z${'\u0351'.repeat(40)}!`), `Z${'\u0351'.repeat(3)}[37 more marks]!`);
  });

  test('is cut when it is long, with the number of characters that are missing', () => {
    assert.equal(shownName('é'.repeat(10_000)), `${'é'.repeat(120)}… (9,880 more characters)`);
    assert.equal(shownName('😀'.repeat(121)), `${'😀'.repeat(120)}… (1 more character)`);
    const { consent, consentUnparsable, deviceConfirm, noApplications } = everyPage(
      'W'.repeat(10_000),
    );
    for (const html of [consent, consentUnparsable, deviceConfirm, noApplications]) {
      assert.doesNotMatch(textOf(html), /W{301}/);
    }
  });

  test('is never an empty name', () => {
    for (const name of ['', '   ', '\u2800\u3000']) assert.equal(shownName(name), '(blank name)');
  });

  test('is isolated from the direction of the sentence around it', () => {
    assert.match(
      consentPage(consentInput),
      /<h1>Allow <bdi>Tide Charts<\/bdi> to use your account\?/,
    );
    for (const html of Object.values(ordinary)) assert.doesNotMatch(html, /<b>Tide Charts/);
  });

  test('keeps the lines of a description and drops empty ones', () => {
    assert.deepEqual(paragraphs(' one\r\n\n two \n'), ['one', ' two']);
    assert.deepEqual(paragraphs(' \n '), []);
  });
});

describe('templates', () => {
  const printing = (source: string) => templateSet(new Map([['page', source]]));

  test('refuse a name that the page does not give, also in a condition and inside an object', () => {
    assert.throws(() => printing('<%= it.nmae %>')('page', { name: 'a' }), /nmae/);
    assert.throws(() => printing('<% if (it.nmae) { %><% } %>')('page', { name: 'a' }), /nmae/);
    assert.throws(() => printing('<%= it.a.c %>')('page', { a: { b: 'x' } }), /used c/);
    assert.throws(() => printing('<%= it.list[0].c %>')('page', { list: [{ b: 'x' }] }), /used c/);
    assert.throws(() => printing('<%= name %>')('page', { name: 'a' }), ReferenceError);
  });

  test('print nothing but text', () => {
    for (const value of [undefined, null, 1, true, {}, []]) {
      assert.throws(() => printing('<%= it.value %>')('page', { value }), /only text/);
    }
  });

  test('print raw only what other templates made', () => {
    const folder = new URL('templates/', pagesFolder);
    for (const file of readdirSync(folder)) {
      const source = readFileSync(new URL(file, folder), 'utf8');
      for (const [, raw] of source.matchAll(/<%~\s*(.*?)\s*%>/g)) {
        assert.match(raw ?? '', /^(?:include\(.*\)|it\.body)$/, file);
      }
      assert.doesNotMatch(source, /output\(/, file);
    }
  });
});

describe('the login page', () => {
  const input = {
    action: '/login',
    csrf: 'csrf-1',
    requestId: 'request-1',
    purpose: { kind: 'application', name: 'Tide Charts', owner: 'grace' },
    username: '',
    error: null,
  } as const;

  test('says which application wants access, and who owns it', () => {
    assert.match(textOf(loginPage(input)), /Tide Charts by grace wants to use your account\./);
  });

  test('names no application to somebody who came for the own account', () => {
    const html = loginPage({ ...input, requestId: null, purpose: { kind: 'account' } });
    assert.doesNotMatch(textOf(html), /wants to/);
    assert.doesNotMatch(html, /name="request"/);
  });

  test('helps a password manager', () => {
    const elements = elementsOf(loginPage(input));
    const username = only(elements, 'input', 'name', 'username');
    const password = only(elements, 'input', 'name', 'password');
    assert.equal(username.attributes.get('autocomplete'), 'username');
    assert.equal(password.attributes.get('autocomplete'), 'current-password');
    assert.equal(password.attributes.get('type'), 'password');
    assert.ok(username.attributes.has('autofocus') && !password.attributes.has('autofocus'));
  });

  test('announces an error, keeps the username and never a password', () => {
    const html = loginPage({ ...input, username: 'ada', error: wrongCredentials });
    const elements = elementsOf(html);
    assert.equal(only(elements, 'p', 'role', 'alert').attributes.get('id'), 'error');
    assert.match(textOf(html), /Error: Log in · reactord[\s\S]*Wrong username or password\./);
    assert.equal(only(elements, 'input', 'name', 'username').attributes.get('value'), 'ada');
    const password = only(elements, 'input', 'name', 'password');
    assert.ok(!password.attributes.has('value') && password.attributes.has('autofocus'));
  });

  test('says how long to wait', () => {
    assert.equal(tooManyAttempts(8), 'Too many attempts. Try again in 8 seconds.');
    assert.equal(tooManyAttempts(0.2), 'Too many attempts. Try again in 1 second.');
    assert.equal(durationInWords(5_400), '1 hour 30 minutes');
    assert.equal(durationInWords(14_400), '4 hours');
    assert.equal(durationInWords(86_400), '1 day');
  });
});

describe('the consent page', () => {
  test('shows owner, host, permission, lifetime and who is logged in', () => {
    const text = textOf(
      consentPage({
        ...consentInput,
        application: { ...consentInput.application, description: 'Draws tides.' },
      }),
    );
    for (const part of [
      'Owner grace',
      'Sends you to tides.example.org',
      'What its owner says about it Draws tides.',
      'Act for you in everything this service offers: your profile, your reactors and what they run',
      'Access lasts 4 hours. The application can renew it by itself, until you revoke it',
      'Logged in as ada. Not you? Log out and switch',
    ]) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
  });

  test('says when the application cannot renew its access', () => {
    const access = { ...consentInput.access, renewable: false };
    assert.match(textOf(consentPage({ ...consentInput, access })), /cannot renew it by itself/);
  });

  test('gives both answers the same weight', () => {
    for (const html of [consentPage(consentInput), ordinary.deviceConfirm]) {
      const buttons = named(elementsOf(html), 'button').filter((each) =>
        each.attributes.has('value'),
      );
      const [approve, deny] = buttons;
      assert.ok(approve !== undefined && deny !== undefined && buttons.length === 2);
      const differing = (each: Element) =>
        [...each.attributes].filter(([name]) => name !== 'value');
      assert.deepEqual(differing(approve), differing(deny));
      assert.deepEqual(
        buttons.map((each) => each.attributes.get('value')),
        ['approve', 'deny'],
      );
    }
  });

  test('carries the request in both forms, and nothing of the request itself', () => {
    for (const form of named(elementsOf(consentPage(consentInput)), 'form')) {
      assert.deepEqual(
        named(form.inside, 'input').map((each) => each.attributes.get('name')),
        ['csrf', 'request'],
      );
    }
  });

  test('names the place that the browser will really visit', () => {
    const loopback = 'an application on this computer';
    assert.deepEqual(destinationOf('http://127.0.0.1:8123/cb'), {
      text: '127.0.0.1:8123',
      note: loopback,
    });
    assert.deepEqual(destinationOf('http://[::1]/cb'), { text: '[::1]', note: loopback });
    assert.deepEqual(destinationOf('https://localhost/cb'), { text: 'localhost', note: loopback });
    assert.equal(destinationOf('https://127.0.0.1.evil.example/').note, '');
    assert.equal(destinationOf('https://bank.example@evil.example/').text, 'evil.example');
    assert.equal(destinationOf('https://\u0430pple.example/').text, 'xn--pple-43d.example');
    assert.match(
      destinationOf(`https://${'a.'.repeat(500)}evil.example/`).text,
      /^…[a.]+evil\.example$/,
    );
    assert.match(destinationOf('http://plain.example/').note, /without encryption/);
    assert.equal(destinationOf('com.example.app://bank.example/').text, 'com.example.app:');
  });
});

describe('the device pages', () => {
  test('show the code in one form, however it was typed', () => {
    for (const code of ['WDJBMJHX', 'wdjb-mjhx', ' wdjb mjhx '])
      assert.equal(formatUserCode(code), 'WDJB-MJHX');
    assert.equal(formatUserCode('short'), 'short');
  });

  test('show the code for comparison and warn about codes from strangers', () => {
    const { redirectUri: _, ...input } = consentInput;
    const text = textOf(deviceConfirmPage({ ...input, userCode: 'WDJBMJHX' }));
    assert.match(text, /Your device must show this code: WDJB-MJHX/);
    assert.match(text, /If somebody sent you the code or a link, deny\./);
    assert.doesNotMatch(text, /Sends you to/);
  });

  test('say how it ended', () => {
    assert.match(textOf(deviceDonePage({ approved: true })), /You can go back to your device\./);
    assert.match(textOf(deviceDonePage({ approved: false })), /Access was denied\./);
  });
});

describe('the page of connected applications', () => {
  const input = {
    revokeAction: '/revoke',
    logoutAction: '/logout',
    csrf: 'c',
    username: 'ada',
    notice: null,
  } as const;

  test('has a Revoke button for each, which says of which', () => {
    const html = applicationsPage({
      ...input,
      applications: [
        {
          consentId: 'consent-1',
          name: 'Tide Charts',
          owner: 'grace',
          redirectUri: 'https://tides.example.org/cb',
          since: new Date('2026-03-14T23:30:00Z'),
          lastUsed: new Date('2026-05-03T14:05:00Z'),
        },
        {
          consentId: 'consent-2',
          name: 'Wall Display',
          owner: 'ada',
          redirectUri: null,
          since: new Date('2026-01-02T00:00:00Z'),
          lastUsed: null,
        },
      ],
    });
    const text = textOf(html);
    assert.match(text, /Revoke access of Tide Charts Owner grace Sends you to tides\.example\.org/);
    assert.match(text, /Since 14 March 2026 Last used 3 May 2026 at 14:05 UTC/);
    assert.match(
      text,
      /Revoke access of Wall Display Owner ada Since 2 January 2026 Last used Never/,
    );
    const consents = named(elementsOf(html), 'input').filter(
      (each) => each.attributes.get('name') === 'consent',
    );
    assert.deepEqual(
      consents.map((each) => each.attributes.get('value')),
      ['consent-1', 'consent-2'],
    );
  });

  test('says so when there is none, and still lets the user log out', () => {
    const html = applicationsPage({ ...input, applications: [] });
    assert.match(textOf(html), /No application has access to your account\./);
    assert.deepEqual(
      named(elementsOf(html), 'form').map((form) => form.attributes.get('action')),
      ['/logout'],
    );
  });
});

describe('the assets', () => {
  test('carry the hash of their bytes in path and ETag', () => {
    assert.equal(pageAssets.size, 2);
    for (const [path, asset] of pageAssets) {
      const hash = createHash('sha256').update(asset.bytes).digest('base64url').slice(0, 16);
      assert.equal(path, asset.path);
      assert.ok(path.includes(`.${hash}.`));
      assert.equal(asset.etag, `"${hash}"`);
      assert.match(asset.cacheControl, /immutable/);
    }
    assert.deepEqual(
      [...pageAssets.values()].map((asset) => asset.contentType),
      ['text/css; charset=utf-8', 'image/svg+xml'],
    );
  });

  test('need nothing that the content policy forbids', () => {
    for (const { bytes } of pageAssets.values()) {
      assert.doesNotMatch(bytes.toString(), /@import|url\(|<script|<style|\sstyle=|\son\w+=/);
    }
  });

  test('use every class that a template names, and no other', () => {
    const folder = new URL('templates/', pagesFolder);
    const sources = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
    const named = sources.flatMap((source) =>
      [...source.matchAll(/class="([^"<]+)"|width: '(\w+)'/g)].map(
        (match) => match[1] ?? match[2] ?? '',
      ),
    );
    const css = readFileSync(new URL('style.css', pagesFolder), 'utf8');
    const styled = [...css.matchAll(/\.([a-z][a-z-]*)(?=[^{};]*\{)/g)].map(
      (match) => match[1] ?? '',
    );
    assert.deepEqual([...new Set(styled)].sort(), [...new Set(named)].sort());
  });
});
