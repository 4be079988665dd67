import type { FastifyInstance, FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { fail, type ServiceError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import { fieldsOf, readFields } from './field-reading.ts';

/** Checks bodies, queries and paths against the routes' schemas; what is wrong is said with the field's name. */
export function checkFields(app: FastifyInstance): void {
  app.setValidatorCompiler(validator);
  // Schemas of replies describe them; they are not a filter.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
}

const validator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const check = Compile(schema);
  const fromText = httpPart !== 'body';
  const fields = fieldsOf(schema);
  return (given: unknown) => {
    const value = readFields(fields, given, fromText);
    if (check.Check(value)) return { value };
    const first = check.Errors(value)[0];
    return { error: first === undefined ? whole('is not valid') : explain(schema, value, first) };
  };
};

function explain(schema: TSchema, value: unknown, error: TLocalizedValidationError): ServiceError {
  const additional = findUnknown(schema, value);
  if (additional !== undefined) return additional;
  if (error.keyword === 'required') {
    const missing = error.params.requiredProperties[0] ?? 'a field';
    return fail('invalid_field', {
      field: pathTo(error.instancePath, missing),
      problem: 'is required',
    });
  }
  const field = pathTo(error.instancePath);
  const node = schemaAt(schema, error.instancePath);
  const allows =
    node !== undefined && 'allows' in node ? `takes ${String(node.allows)}` : undefined;
  const problem = allows ?? choicesOf(node) ?? error.message;
  return field === '' ? whole(problem) : fail('invalid_field', { field, problem });
}

const whole = (problem: string): ServiceError =>
  fail('invalid_field', { field: 'The body', problem });

/** An unknown field is said before anything else: it is often the reason why another one is missing. */
function findUnknown(schema: TSchema, value: unknown): ServiceError | undefined {
  if (!('additionalProperties' in schema) || schema.additionalProperties !== false)
    return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const known = Object.keys(propertiesOf(schema));
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const near = nearest(unknown, known);
  const suggestion = near === undefined ? '' : ` (did you mean ${near}?)`;
  return fail('unknown_field', { field: unknown, suggestion });
}

function propertiesOf(schema: object): Readonly<Record<string, unknown>> {
  return 'properties' in schema &&
    typeof schema.properties === 'object' &&
    schema.properties !== null
    ? { ...schema.properties }
    : {};
}

function schemaAt(schema: TSchema, instancePath: string): object | undefined {
  let node: unknown = schema;
  for (const step of instancePath.split('/').slice(1)) {
    if (typeof node !== 'object' || node === null) return undefined;
    node = propertiesOf(node)[step] ?? ('items' in node ? node.items : undefined);
  }
  return typeof node === 'object' && node !== null ? node : undefined;
}

function choicesOf(node: object | undefined): string | undefined {
  if (node === undefined || !('enum' in node) || !Array.isArray(node.enum)) return undefined;
  return `takes one of ${node.enum.join(', ')}`;
}

function pathTo(instancePath: string, ...more: string[]): string {
  return [...instancePath.split('/').slice(1), ...more].join('.');
}
