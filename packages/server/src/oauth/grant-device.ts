import OAuth2Server from '@node-oauth/oauth2-server';
import { type GrantContext, requireActiveUser } from './grant-context.ts';
import { TokenRefusal } from './token-errors.ts';
import { needed } from './token-form.ts';
import type { IssuedTokens } from './tokens.ts';

export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

interface DeviceModel {
  redeemDevice(): Promise<OAuth2Server.Token>;
}

/** The grant of RFC 8628, which the library does not have. */
export class DeviceGrant extends OAuth2Server.AbstractGrantType {
  readonly #model: DeviceModel;

  constructor(options: OAuth2Server.TokenOptions & { model: DeviceModel }) {
    super(options);
    this.#model = options.model;
  }

  override handle(): Promise<OAuth2Server.Token> {
    return this.#model.redeemDevice();
  }
}

/** The device's question for its token: answered once its person has said yes. */
export async function askForDevice(
  context: GrantContext,
): Promise<{ readonly userId: string; readonly issued: IssuedTokens }> {
  const { parts, client, form } = context;
  const answer = await parts.deviceCodes.poll(needed(form, 'device_code'), client);
  switch (answer.status) {
    case 'approved':
      break;
    case 'pending':
      throw new TokenRefusal('authorization_pending', 'The user has not decided yet. Ask again.');
    case 'slow_down':
      throw new TokenRefusal('slow_down', 'Wait five seconds longer between two questions.');
    case 'denied':
      throw new TokenRefusal('access_denied', 'The user said no.');
    case 'expired':
      throw new TokenRefusal('expired_token', 'The device code has expired. Begin again.');
    default:
      throw unknownCode();
  }
  const { device } = answer;
  const { userId, scope } = device;
  await requireActiveUser(context, userId);
  const { issued, unit } = parts.tokens.mint({
    client,
    userId,
    flow: 'device',
    scope,
    refresh: true,
  });
  if (!(await parts.deviceCodes.consume(device, ...unit))) throw unknownCode();
  return { userId, issued };
}

const unknownCode = (): TokenRefusal =>
  new TokenRefusal('invalid_grant', 'The device code is unknown or was used before.');
