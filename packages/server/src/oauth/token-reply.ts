import { Type } from 'typebox';
import { deviceGrantType } from './grant-device.ts';
import type { IssuedTokens } from './tokens.ts';

/** The reply of RFC 6749 5.1. */
export const TokenReply = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('bearer'),
    expires_in: Type.Integer({ description: 'Seconds, at most 14400.' }),
    refresh_token: Type.Optional(
      Type.String({ description: 'In the code, password and device flows, and when refreshing.' }),
    ),
  },
  {
    title: 'TokenReply',
    examples: [{ access_token: 'rct_at_…', token_type: 'bearer', expires_in: 14400 }],
  },
);

export function tokenReply({ accessToken, expiresIn, refreshToken }: IssuedTokens) {
  return {
    access_token: accessToken,
    token_type: 'bearer',
    expires_in: expiresIn,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  };
}

/** The refusal of RFC 6749 5.2. */
export const TokenFailure = Type.Object(
  { error: Type.String(), error_description: Type.String() },
  {
    title: 'TokenFailure',
    examples: [{ error: 'invalid_grant', error_description: 'The code was used before.' }],
  },
);

const credentials = {
  client_id: Type.Optional(Type.String({ description: 'Without HTTP Basic: the client key.' })),
  client_secret: Type.Optional(Type.String({ description: 'Without HTTP Basic.' })),
};

export const TokenRequest = Type.Object(
  {
    grant_type: Type.String({
      enum: [
        'authorization_code',
        'password',
        'client_credentials',
        'refresh_token',
        deviceGrantType,
      ],
    }),
    ...credentials,
    code: Type.Optional(Type.String({ description: 'For authorization_code.' })),
    redirect_uri: Type.Optional(
      Type.String({ description: 'For authorization_code: the same as at /authorize.' }),
    ),
    code_verifier: Type.Optional(Type.String({ description: 'For authorization_code with PKCE.' })),
    username: Type.Optional(Type.String({ description: 'For password.' })),
    password: Type.Optional(Type.String({ description: 'For password.' })),
    scope: Type.Optional(
      Type.String({ description: 'Only PRODUCTION. Needed for password, optional elsewhere.' }),
    ),
    refresh_token: Type.Optional(Type.String({ description: 'For refresh_token.' })),
    device_code: Type.Optional(Type.String({ description: `For ${deviceGrantType}.` })),
  },
  {
    title: 'TokenRequest',
    examples: [{ grant_type: 'password', username: 'ada', password: '…', scope: 'PRODUCTION' }],
  },
);

export const AboutToken = Type.Object(
  {
    token: Type.String(),
    token_type_hint: Type.Optional(
      Type.String({ description: 'Tolerated. A token says itself what it is.' }),
    ),
    ...credentials,
  },
  { title: 'AboutToken', examples: [{ token: 'rct_at_…' }] },
);

export const DeviceRequest = Type.Object(
  { scope: Type.Optional(Type.String({ description: 'Only PRODUCTION.' })), ...credentials },
  { title: 'DeviceRequest', examples: [{ scope: 'PRODUCTION' }] },
);

export const DeviceReply = Type.Object(
  {
    device_code: Type.String(),
    user_code: Type.String({ description: 'What the person types.', examples: ['WDJB-MJHT'] }),
    verification_uri: Type.String(),
    verification_uri_complete: Type.String(),
    expires_in: Type.Integer(),
    interval: Type.Integer({ description: 'Seconds to leave between two questions at /token.' }),
  },
  {
    title: 'DeviceReply',
    examples: [
      {
        device_code: 'rct_dc_…',
        user_code: 'WDJB-MJHT',
        verification_uri: 'https://reactors.example.org/device',
        verification_uri_complete: 'https://reactors.example.org/device?user_code=WDJB-MJHT',
        expires_in: 900,
        interval: 5,
      },
    ],
  },
);

export const IntrospectionReply = Type.Object(
  {
    active: Type.Boolean(),
    iss: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    username: Type.Optional(Type.String()),
    sub: Type.Optional(Type.String()),
    scope: Type.Optional(Type.String()),
    token_type: Type.Optional(Type.String()),
    iat: Type.Optional(Type.Integer()),
    exp: Type.Optional(Type.Integer({ description: 'Absent for a token without an end.' })),
  },
  {
    title: 'Introspection',
    examples: [
      {
        active: true,
        iss: 'https://reactors.example.org',
        client_id: 'hK3vXmPq8RnW2d',
        username: 'ada',
        sub: 'ada',
        scope: 'PRODUCTION',
        token_type: 'bearer',
        iat: 1_769_774_400,
        exp: 1_769_788_800,
      },
    ],
  },
);
