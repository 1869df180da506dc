import { canonicalJson } from '../canonical.ts';
import type { Shape } from '../crypto/open-envelope.ts';
import { MAX_VALUE_BYTES } from './limits.ts';
import { type RecordKey, type RecordValue, type Space, StoreFault } from './port.ts';

/** A record kind and every version of it that can be read. An old reader goes away only with a migration. */
export interface RecordKind {
  readonly space: Space;
  /** e.g. `transaction`. */
  readonly kind: string;
  /**
   * Reader by schema name, e.g. `{ 'idunn.transaction/v1': transactionSchema }`. Strict schemas, without a transform.
   */
  readonly versions: Readonly<Record<string, Shape<object>>>;
}

/** What a store knows of its records: what it cannot read back is never written (F28). */
export interface RecordCodec {
  /** Throws `TypeError` for a kind that is not registered in that space. */
  kindOf(space: Space, kind: string): RecordKind;
  /** The canonical text of a value. Throws `StoreFault` for a value that could not be read back. */
  encode(key: RecordKey, value: RecordValue): string;
  /** The value of a stored text. Throws `StoreFault` when its version is unknown or its shape is another. */
  decode(key: RecordKey, text: string): RecordValue;
}

/** Builds the codec of all registered kinds. Throws `TypeError` when two rooms register one kind. */
export function recordCodec(kinds: readonly RecordKind[]): RecordCodec {
  const known = new Map(kinds.map((kind) => [`${kind.space}/${kind.kind}`, kind]));
  if (known.size !== kinds.length) throw new TypeError('a record kind is registered twice');

  const kindOf: RecordCodec['kindOf'] = (space, kind) => {
    const found = known.get(`${space}/${kind}`);
    if (found === undefined) throw new TypeError(`no record kind ${kind} is registered in the ${space}`);
    return found;
  };

  const checked = (key: RecordKey, value: unknown): RecordValue => {
    const name = `${key.kind} ${key.id}`;
    const schema = schemaOf(value);
    if (schema === null) throw new StoreFault('store-unreadable', `Record ${name} carries no schema.`);
    const { versions } = kindOf(key.space, key.kind);
    if (!Object.hasOwn(versions, schema)) {
      throw new StoreFault('store-version-unknown', `Record ${name} has the unknown schema ${schema}.`);
    }
    const parsed = versions[schema]?.safeParse(value);
    if (parsed?.success !== true) {
      throw new StoreFault('store-unreadable', `Record ${name} is no ${schema}: ${parsed?.error.message}`);
    }
    return parsed.data as RecordValue;
  };

  return {
    kindOf,
    encode(key, value) {
      checked(key, value);
      const text = canonicalJson(value);
      if (Buffer.byteLength(text) > MAX_VALUE_BYTES) throw new TypeError(`record ${key.kind} ${key.id} is too long`);
      return text;
    },
    decode: (key, text) => checked(key, parsed(key, text)),
  };
}

function parsed(key: RecordKey, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StoreFault('store-unreadable', `Record ${key.kind} ${key.id} is no JSON.`, { cause });
  }
}

const schemaOf = (value: unknown): string | null =>
  typeof value === 'object' && value !== null && 'schema' in value && typeof value.schema === 'string'
    ? value.schema
    : null;
