import { FailedLogins } from '../identity/failed-logins.ts';
import type { Clients } from './clients.ts';
import type { DeviceCodes, PendingDevice } from './device-codes.ts';
import { page, seeOther } from './page-answers.ts';
import { formWaiting, type PageForms } from './page-forms.ts';
import {
  formField,
  type PageRoute,
  type PageVisit,
  queryField,
  type VisitAnswer,
} from './page-visit.ts';
import { deviceCodePage, deviceConfirmPage, deviceDonePage } from './pages/device.ts';
import { tooManyAttempts } from './pages/login.ts';
import { outdatedFormPage, Refusal } from './problem-pages.ts';
import { accessTokenSeconds, type LifetimeSettings } from './token-lifetimes.ts';
import { csrfFor, type KnownVisitor, type Visitors } from './visitors.ts';
import { loginPathOf, readUserCode, type Waiting, waitingWord } from './waiting.ts';

export interface DevicePagesParts {
  readonly settings: LifetimeSettings;
  readonly visitors: Visitors;
  readonly forms: PageForms;
  readonly devices: Pick<DeviceCodes, 'byUserCode' | 'decide'>;
  readonly clients: Pick<Clients, 'byId'>;
}

export function deviceRoutes(parts: DevicePagesParts): readonly PageRoute[] {
  const pages = new DevicePages(parts);
  return [
    {
      method: 'GET',
      path: '/device',
      summary: 'The page on which a person types the code of a device',
      description: 'A page for people. A `user_code` in the address is filled in, and never more.',
      answer: (visit) => pages.showCode(visit),
    },
    {
      method: 'POST',
      path: '/device',
      summary: 'Look up the code of a device, approve it or deny it',
      description:
        'The forms of the device pages. Wrong codes make the next attempt wait. A code that is found is shown again, ' +
        'to be compared with the device before it is approved.',
      answer: (visit) => pages.answerForm(visit),
    },
    ...[true, false].map(
      (approved): PageRoute => ({
        method: 'GET',
        path: donePath(approved),
        summary: approved ? 'A device was approved' : 'A device was denied',
        description: 'A page for people.',
        answer: async () => page(deviceDonePage({ approved })),
      }),
    ),
  ];
}

const donePath = (approved: boolean) => (approved ? '/device/connected' : '/device/denied');

const anyDevice: Waiting = { kind: 'device', userCode: undefined };

const unknownCode =
  'No device waits with this code. Compare it with your device, or start again there: a code is valid for ten minutes.';

/** RFC 8628 section 3.3: the code is typed or comes with the address, then compared, then approved or denied. */
class DevicePages {
  readonly #parts: DevicePagesParts;
  /** By person: short codes can be guessed if somebody is let try (RFC 8628 section 5.1). */
  readonly #wrongCodes = new FailedLogins({
    free: 5,
    mostSeconds: 900,
    memoryMs: 3_600_000,
    keys: 20_000,
  });

  constructor(parts: DevicePagesParts) {
    this.#parts = parts;
  }

  async showCode(visit: PageVisit): Promise<VisitAnswer> {
    const userCode = readUserCode(queryField(visit, 'user_code'));
    const visitor = await this.#loggedIn(visit, userCode);
    return codeForm(visitor, { userCode: userCode ?? '' });
  }

  /** The first form carries a code, the second one what was found under it. */
  async answerForm(visit: PageVisit): Promise<VisitAnswer> {
    const about = formWaiting(visit);
    if (about.kind === 'account') return await this.#enterCode(visit);
    const visitor = await this.#parts.forms.admitLoggedIn(visit, about);
    const userCode = about.kind === 'device' ? about.userCode : undefined;
    const decision = formField(visit, 'decision');
    const decided = decision === 'approve' || decision === 'deny';
    if (userCode === undefined || !decided) return outdatedFormPage(about);
    return await this.#decide(visit, visitor, userCode, decision === 'approve');
  }

  async #enterCode(visit: PageVisit): Promise<VisitAnswer> {
    const visitor = await this.#parts.forms.admitLoggedIn(visit, anyDevice);
    const typed = formField(visit, 'user_code') ?? '';
    const device = await this.#findDevice(visitor, typed);
    const client = await this.#parts.clients.byId(device.clientId);
    if (client === undefined) return refusedCode(visitor, typed);
    const word = waitingWord({ kind: 'device', userCode: device.userCode });
    const body = deviceConfirmPage({
      action: '/device',
      switchAction: '/logout',
      csrf: csrfFor(visitor, word),
      requestId: word,
      userCode: device.userCode,
      application: {
        name: client.name,
        owner: client.ownerUsername,
        description: client.description === '' ? null : client.description,
      },
      access: {
        scopes: ['PRODUCTION'],
        lifetimeSeconds: accessTokenSeconds(this.#parts.settings, 'device'),
        renewable: true,
      },
      username: visitor.user.username,
    });
    return page(body);
  }

  async #decide(
    visit: PageVisit,
    visitor: KnownVisitor,
    userCode: string,
    approved: boolean,
  ): Promise<VisitAnswer> {
    const userId = visitor.user.id;
    if (!(await this.#parts.devices.decide(userCode, userId, approved)))
      return refusedCode(visitor, userCode);
    const event = approved ? 'device_approved' : 'device_denied';
    visit.log.info({ event, user: userId }, 'device decided');
    return seeOther(donePath(approved));
  }

  /** Who is not logged in does so first, and comes back with the code. */
  async #loggedIn(visit: PageVisit, userCode: string | undefined): Promise<KnownVisitor> {
    const visitor = await this.#parts.visitors.findLoggedIn(visit.cookie);
    if (visitor !== undefined) return visitor;
    throw new Refusal(seeOther(loginPathOf({ kind: 'device', userCode })));
  }

  async #findDevice(visitor: KnownVisitor, typed: string): Promise<PendingDevice> {
    const userId = visitor.user.id;
    const waitMs = this.#wrongCodes.waitFor(userId, Date.now());
    if (waitMs > 0) throw new Refusal(heldUp(visitor, typed, Math.ceil(waitMs / 1000)));
    // Counted before it is looked up: a hundred guesses at once are a hundred.
    this.#wrongCodes.count(userId, Date.now());
    const device = await this.#parts.devices.byUserCode(typed);
    if (device === undefined) throw new Refusal(refusedCode(visitor, typed));
    this.#wrongCodes.takeBack(userId);
    return device;
  }
}

interface CodeForm {
  readonly userCode: string;
  readonly error?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

function codeForm(visitor: KnownVisitor, shown: CodeForm): VisitAnswer {
  const { userCode, error = null, status = 200, headers = {} } = shown;
  const word = waitingWord(anyDevice);
  const body = deviceCodePage({
    action: '/device',
    switchAction: `/logout?request=${word}`,
    csrf: csrfFor(visitor, word),
    userCode,
    error,
    username: visitor.user.username,
  });
  return page(body, { status, headers });
}

const shownCode = (typed: string): string => readUserCode(typed) ?? typed.slice(0, 40);

function refusedCode(visitor: KnownVisitor, typed: string): VisitAnswer {
  return codeForm(visitor, { userCode: shownCode(typed), status: 400, error: unknownCode });
}

function heldUp(visitor: KnownVisitor, typed: string, seconds: number): VisitAnswer {
  return codeForm(visitor, {
    userCode: shownCode(typed),
    status: 429,
    headers: { 'retry-after': String(seconds) },
    error: tooManyAttempts(seconds),
  });
}
