/** What a setting is made of: how its text is read, what it allows (said when it is wrong), its default and its doc line. */
export interface Setting<Value> {
  readonly doc: string;
  readonly allows: string;
  /** Shown in the reference; `undefined` means "not set". */
  readonly defaultText: string | undefined;
  readonly defaultValue: Value;
  readonly secret: boolean;
  /** Returns undefined for text that the setting does not allow. */
  readonly read: (text: string) => Value | undefined;
}

interface Described {
  readonly doc: string;
}

export function text(
  options: Described & { default: string; pattern: RegExp; allows: string },
): Setting<string> {
  return {
    doc: options.doc,
    allows: options.allows,
    defaultText: options.default,
    defaultValue: options.default,
    secret: false,
    read: (given) => (options.pattern.test(given) ? given : undefined),
  };
}

export function optional<Value>(
  options: Described & {
    allows: string;
    defaultText?: string;
    secret?: boolean;
    read: (text: string) => Value | undefined;
  },
): Setting<Value | undefined> {
  return {
    doc: options.doc,
    allows: options.allows,
    defaultText: options.defaultText,
    defaultValue: undefined,
    secret: options.secret ?? false,
    read: options.read,
  };
}

export function wholeNumber(
  options: Described & { default: number; least: number; most: number },
): Setting<number> {
  const { least, most } = options;
  return {
    doc: options.doc,
    allows: `a whole number from ${least} to ${most}`,
    defaultText: String(options.default),
    defaultValue: options.default,
    secret: false,
    read: (given) => {
      const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}

export function choice<const Value extends string>(
  options: Described & { default: NoInfer<Value>; of: readonly Value[] },
): Setting<Value> {
  return {
    doc: options.doc,
    allows: `one of ${options.of.join(', ')}`,
    defaultText: options.default,
    defaultValue: options.default,
    secret: false,
    read: (given) => options.of.find((value) => value === given.toLowerCase()),
  };
}

export function flag(options: Described & { default: boolean }): Setting<boolean> {
  const words: Readonly<Record<string, boolean>> = {
    true: true,
    '1': true,
    yes: true,
    on: true,
    false: false,
    '0': false,
    no: false,
    off: false,
  };
  return {
    doc: options.doc,
    allows: 'true or false',
    defaultText: String(options.default),
    defaultValue: options.default,
    secret: false,
    read: (given) => words[given.toLowerCase()],
  };
}

/** A list of texts separated by commas; spaces around an entry do not count. */
export function list(
  options: Described & {
    default: readonly string[];
    allows: string;
    entry: (text: string) => boolean;
  },
): Setting<readonly string[]> {
  return {
    doc: options.doc,
    allows: options.allows,
    defaultText: options.default.join(','),
    defaultValue: options.default,
    secret: false,
    read: (given) => {
      const entries = given
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
      return entries.every(options.entry) ? entries : undefined;
    },
  };
}

/** Seconds, minutes, hours or days as people write them: 90, 90s, 15m, 4h, 7d. The value is in seconds. */
export function duration(
  options: Described & { default: string; least: string; most: string },
): Setting<number> {
  const [least, most, standard] = [options.least, options.most, options.default].map(readSeconds);
  if (least === undefined || most === undefined || standard === undefined) {
    throw new Error(`a duration of the setting "${options.doc}" is not one`);
  }
  return {
    doc: options.doc,
    allows: `a time from ${options.least} to ${options.most}, such as 90s, 15m, 4h or 7d`,
    defaultText: options.default,
    defaultValue: standard,
    secret: false,
    read: (given) => {
      const seconds = readSeconds(given);
      return seconds !== undefined && seconds >= least && seconds <= most ? seconds : undefined;
    },
  };
}

function readSeconds(given: string): number | undefined {
  const match = /^(\d{1,9})([smhd]?)$/.exec(given.trim());
  if (match === null) return undefined;
  const unit = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 }[match[2] ?? ''];
  return unit === undefined ? undefined : Number(match[1]) * unit;
}

/** Bytes as people write them: 1000, 512k, 64m, 4g (powers of 1024). */
export function size(
  options: Described & { default: string; least: string; most: string },
): Setting<number> {
  const [least, most, standard] = [options.least, options.most, options.default].map(readBytes);
  if (least === undefined || most === undefined || standard === undefined) {
    throw new Error(`a size of the setting "${options.doc}" is not one`);
  }
  return {
    doc: options.doc,
    allows: `a size from ${options.least} to ${options.most}, such as 512k, 64m or 4g`,
    defaultText: options.default,
    defaultValue: standard,
    secret: false,
    read: (given) => {
      const bytes = readBytes(given);
      return bytes !== undefined && bytes >= least && bytes <= most ? bytes : undefined;
    },
  };
}

/** The bytes that a text such as 512m means; also for the memory limits that users give. */
export function readBytes(given: string): number | undefined {
  const match = /^(\d{1,12})([bkmg]?)b?$/i.exec(given.trim());
  if (match === null) return undefined;
  const unit = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }[(match[2] ?? '').toLowerCase()];
  return unit === undefined ? undefined : Number(match[1]) * unit;
}

export function decimal(
  options: Described & { default: number; least: number; most: number },
): Setting<number> {
  const { least, most } = options;
  return {
    doc: options.doc,
    allows: `a number from ${least} to ${most}`,
    defaultText: String(options.default),
    defaultValue: options.default,
    secret: false,
    read: (given) => {
      const value = /^\d{1,9}(\.\d{1,6})?$/.test(given) ? Number(given) : Number.NaN;
      return value >= least && value <= most ? value : undefined;
    },
  };
}
