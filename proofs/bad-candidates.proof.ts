import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fleet } from '../tests/e2e/lib/fleet.ts';
import { journal, json, type VersionAnswer } from '../tests/e2e/lib/world.ts';
import { send } from './lib/load.ts';
import { claim, type Proof, spread } from './lib/proof.ts';
import { portOf, withFleet } from './lib/stage.ts';

/** What the bindings of this proof have, by default: a hold ends by itself then. */
const HOLD_MS = 2_000;
/** What a read may take beyond the hold, on a busy machine. */
const SLACK_MS = 500;
const MAIN = 'src/main.js';
/** Where the SDK that the program carries signs its presence: a liar changes it there. */
const PRESENCE = 'vendor/workload/presence/presence.js';
const EARLY_ID = 'written-before-the-lease';

/** How each candidate is bad, and the code that names it. */
const CANDIDATES: readonly {
  readonly name: string;
  readonly code: string;
  readonly files: Readonly<Record<string, (text: string) => string>>;
}[] = [
  {
    name: 'crashes at start',
    code: 'candidate-exited',
    files: { [MAIN]: (text) => `console.error('no light tonight');\nprocess.exit(7);\n${text}` },
  },
  {
    name: 'never becomes active',
    code: 'candidate-never-active',
    files: { [MAIN]: (text) => text.replace('() => journal.create()', '() => new Promise(() => {})') },
  },
  {
    name: 'lies about its identity',
    code: 'incarnation-mismatch',
    files: { [PRESENCE]: saying("incarnation: 'ghostlight@sha256:' + '0'.repeat(64)") },
  },
  {
    name: 'is another binary',
    code: 'executable-mismatch',
    files: { [MAIN]: () => "process.execve('/usr/bin/sleep', ['sleep', '60'], process.env);\n" },
  },
  {
    name: 'tries to write before its lease',
    code: 'wrote-before-lease',
    files: {
      [MAIN]: (text) =>
        `${text}
const early = { id: '${EARLY_ID}', text: '' };
try { journal.append([early], 1); } catch (refused) { console.error(refused); }
`,
      [PRESENCE]: saying("state: 'active', epoch: word.epoch ?? 1000"),
    },
  },
];

/** Changes what the program says of itself just before it is signed. */
function saying(lie: string): (text: string) => string {
  return (text) => text.replace('signEnvelope(payload, keys)', `signEnvelope({ ...payload, ${lie} }, keys)`);
}

export const proof: Proof = {
  name: 'bad-candidates',
  promise: 'Each bad candidate is refused with a code of its own, and the incumbent serves throughout.',
  run: ({ note }) =>
    withFleet(async (fleet) => {
      await fleet.bind(
        (text) => `${text}\n[deadlines]\nstart_ms = 4000\nwarming_ms = 4000\nhandover_ms = 2000\nready_ms = 2000\n`,
      );
      await fleet.daemon();
      const first = await fleet.up('ghostlight');
      note(`first deployment: ${first.outcome.outcome} ${first.outcome.refusal?.reason ?? ''}`);
      const incumbent = await json<VersionAnswer>(fleet.url, '/version');
      const watch = watchReads(portOf(fleet));
      const seen: Record<string, string> = {};
      for (const { name, files } of CANDIDATES) {
        const mend = await bend(fleet, files);
        const { outcome } = await fleet.up('ghostlight');
        await mend();
        seen[name] = `${outcome.outcome} ${outcome.refusal?.code ?? ''}`.trim();
        note(`a candidate that ${name}: ${seen[name]}`);
      }
      const reads = await watch.stop();
      const held = spread(reads.latenciesMs);
      const after = await json<VersionAnswer>(fleet.url, '/version');
      const early = (await journal(fleet.url)).some(({ id }) => id === EARLY_ID);
      const written = await json<{ seq: number }>(fleet.url, '/events', { id: 'afterwards', text: 'still here' });
      return {
        figures: {
          attempts: CANDIDATES.length,
          requests: reads.answered,
          failed: reads.failed.length,
          heldMs: held,
        },
        claims: [
          claim('the first deployment was admitted', first.outcome.outcome === 'admitted'),
          ...CANDIDATES.map(({ name, code }) =>
            claim(`a candidate that ${name} ends with ${code}`, (seen[name] ?? '').endsWith(code)),
          ),
          claim('enough was read to show it', reads.answered > 100),
          claim('the incumbent answered every read', reads.failed.length === 0),
          claim(`no read waited longer than ${HOLD_MS + SLACK_MS} ms`, held.max <= HOLD_MS + SLACK_MS),
          claim('the incumbent is still the revision that serves', after.revision === incumbent.revision),
          claim('what was written without a lease is not in the journal', !early),
          claim('the incumbent still writes', written.seq > 0),
        ],
      };
    }),
};

/** Commits the candidate's changes; the answer commits the repository back to what it was. */
async function bend(fleet: Fleet, files: Readonly<Record<string, (text: string) => string>>) {
  const before: Record<string, string> = {};
  for (const [file, change] of Object.entries(files)) {
    before[file] = await readFile(join(fleet.repository, file), 'utf8');
    await fleet.edit(file, change);
  }
  return () => fleet.commit(before);
}

/** Reads the head over and over; the incumbent is to answer each time. */
function watchReads(port: number) {
  const latenciesMs: number[] = [];
  const failed: string[] = [];
  const enough = new AbortController();
  const loop = (async () => {
    while (!enough.signal.aborted) {
      const begun = performance.now();
      const answer = await send({ port, method: 'GET', path: '/head' }).catch((error: unknown) => ({
        status: 0,
        body: String(error),
      }));
      latenciesMs.push(performance.now() - begun);
      if (answer.status !== 200) failed.push(`${answer.status} ${answer.body}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    async stop() {
      enough.abort();
      await loop;
      return { answered: latenciesMs.length, failed, latenciesMs };
    },
  };
}
