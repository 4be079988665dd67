/** `default_environment` as `defaultEnvironment`. */
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? First extends ''
    ? Name
    : `${First}${Capitalize<Camel<Rest>>}`
  : Name;

type CamelCased<Record_> = {
  [Key in keyof Record_ as Key extends string ? Camel<Key> : Key]: Record_[Key];
};

/** The service takes the fields of what it is sent in both spellings. */
export type Spelled<Body> = Body extends object ? Body | CamelCased<Body> : Body;
