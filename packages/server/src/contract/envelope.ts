import { type TSchema, Type } from 'typebox';
import { version } from '../version.ts';

/** The shape of every reply outside OAuth. */
interface Envelope<Status extends string, Result> {
  readonly status: Status;
  readonly message: string;
  readonly result: Result;
  readonly version: string;
}

export function success<Result>(
  result: Result,
  message = 'The request was successful.',
): Envelope<'success', Result> {
  return { status: 'success', message, result, version };
}

export function failure<Result = null>(message: string, result: Result): Envelope<'error', Result> {
  return { status: 'error', message, result, version };
}

/** The envelope of an error whose result says more. */
export const FailureWith = <Result extends TSchema>(result: Result) =>
  Type.Object({
    status: Type.Literal('error'),
    message: Type.String({ description: 'What was wrong with which field, and what to do.' }),
    result,
    version: Type.String(),
  });

export const Failure = Type.Object(
  { ...FailureWith(Type.Unknown()).properties, result: Type.Null() },
  { title: 'Failure' },
);
