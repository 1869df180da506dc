import { z } from 'zod';
import { id, port, positive, target, word } from '../configuration/fields.ts';

/** An absolute path, or one relative to the fleet directory. */
const directory = word.min(1).max(4_096);

const account = z.string().regex(/^[a-z_][a-z0-9_.-]{0,31}$/i, 'the name of a user of this machine');

const placement = z.strictObject({ nodes: z.array(id).min(1).max(256) });
const notifier = z
  .strictObject({
    id,
    webhook: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .optional(),
    /** A file with the token that is sent as a bearer; never the token itself. */
    token_file: word.min(1).max(4_096).startsWith('/', 'an absolute path').optional(),
    /** A file with the secret that each delivery is signed with; never the secret itself. */
    secret_file: word.min(1).max(4_096).startsWith('/', 'an absolute path').optional(),
    command: z.array(word.min(1).max(4_096)).min(1).max(64).optional(),
    /** Only incidents of these codes; all of them when it is left out. */
    codes: z.array(word).min(1).max(256).optional(),
  })
  .refine(({ webhook, command }) => (webhook === undefined) !== (command === undefined), 'either webhook or command')
  .refine(
    ({ webhook, token_file }) => token_file === undefined || webhook !== undefined,
    'token_file belongs to webhook',
  )
  .refine(
    ({ webhook, secret_file }) => secret_file === undefined || webhook !== undefined,
    'secret_file belongs to webhook',
  );
export type NotifierFile = z.infer<typeof notifier>;

const members = z.array(target).min(1).max(10_000);

/** The whole vocabulary of fleet.toml, by top-level field. */
export const fleetShape = {
  schema: z.literal('idunn.fleet/v1'),
  id,
  directories: z
    .strictObject({
      state: directory.optional(),
      runtime: directory.optional(),
      releases: directory.optional(),
      logs: directory.optional(),
      cache: directory.optional(),
    })
    .default({}),
  ports: z.strictObject({ from: port, to: port }).default({ from: 20_000, to: 29_999 }),
  daemon: z
    .strictObject({
      /** Commands that may wait behind one target's running transaction. */
      queue_depth: positive(16).default(8),
    })
    .default({ queue_depth: 8 }),
  source: z
    .strictObject({
      /** The account that reads repositories for a root daemon. */
      reader: account.optional(),
      /** Accounts whose local repositories are read. */
      origin_owners: z.array(account).max(64).default([]),
    })
    .default({ origin_owners: [] }),
  notify: z.array(notifier).max(16).default([]),
  profiles: z
    .record(
      id,
      z.union(
        [members, z.strictObject({ targets: members, placement: placement.optional() })],
        'a list of targets, or a table with targets',
      ),
    )
    .default({}),
} as const;

export type FleetShape = typeof fleetShape;
export type FleetFile = { readonly [K in keyof FleetShape]: z.infer<FleetShape[K]> };
