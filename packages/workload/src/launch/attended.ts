import { Shape, ShapeError, textItem } from '../words/shape.ts';

/** How a program that knows nothing of Idunn is looked at, every slot filled. */
export interface AttendedContract {
  readonly probe: AttendedProbe;
  /** From the end of one probe to the begin of the next. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Good readings in a row that make it `active`. */
  readonly successes: number;
  /** Bad readings in a row that make it `degraded`. */
  readonly failures: number;
  /** What the recipe declares and it cannot say itself. */
  readonly capabilities: readonly { readonly name: string; readonly schema: string }[];
}

export type AttendedProbe =
  | {
      readonly kind: 'http';
      readonly method: string;
      readonly path: string;
      readonly statuses: readonly number[];
      /** Text that a good body contains; `null`: any body will do. */
      readonly body: string | null;
    }
  | { readonly kind: 'tcp' }
  | {
      readonly kind: 'command';
      readonly argv: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly cwd: string;
    };

export function readAttended(shape: Shape, expected: Shape): AttendedContract {
  return {
    probe: readProbe(shape.object('probe')),
    intervalMs: shape.integer('intervalMs', 1),
    timeoutMs: shape.integer('timeoutMs', 1),
    successes: shape.integer('successes', 1),
    failures: shape.integer('failures', 1),
    capabilities: expected.list('capabilities', (item, path) => {
      const capability = new Shape(item, path);
      return { name: capability.text('name'), schema: capability.text('schema') };
    }),
  };
}

function readProbe(probe: Shape): AttendedProbe {
  const kind = probe.text('kind');
  switch (kind) {
    case 'http':
      return {
        kind,
        method: probe.text('method'),
        path: probe.text('path'),
        statuses: probe.list('statuses', integerItem),
        body: probe.nullable('body', () => probe.text('body')),
      };
    case 'tcp':
      return { kind };
    case 'command':
      return {
        kind,
        argv: probe.list('argv', textItem),
        environment: readTexts(probe.raw('environment')),
        cwd: probe.text('cwd'),
      };
    default:
      throw new ShapeError('launch.attended.probe.kind', 'a known kind of probe');
  }
}

function readTexts(value: unknown): Readonly<Record<string, string>> {
  const shape = new Shape(value, 'launch.attended.probe.environment');
  return Object.fromEntries(Object.keys(value as object).map((name) => [name, shape.text(name)]));
}

function integerItem(item: unknown, path: string): number {
  if (typeof item !== 'number' || !Number.isSafeInteger(item)) throw new ShapeError(path, 'a whole number');
  return item;
}
