import { hash } from 'node:crypto';
import type { Memory, TransactionRecord } from '@idunn/authority';
import { EMPTY_HANDS, type Hands } from './draft.ts';
import { distance, IDS, plain } from './plain.ts';
import { nameOf, type Records } from './records.ts';
import type { SmallWorld } from './world.ts';

/** How often what goes wrong may still go wrong. */
export interface Budget {
  /** Deaths of the engine. */
  readonly crash: number;
  /** Deaths of programs. */
  readonly death: number;
  readonly freeze: number;
  /** Deadlines that pass before what they wait for has come. */
  readonly late: number;
  /** Effects that fail, or whose answer is lost, while the engine lives. */
  readonly miss: number;
}

/** Everything that the next step may depend on, as one value. */
export interface State {
  readonly nowMs: number;
  readonly records: Records;
  readonly world: SmallWorld;
  /** The engine that lives now; `null` between its death and the takeover. */
  readonly memory: Memory | null;
  readonly hands: Hands;
  /** What has happened that the engine has not decided about yet; `null`: anything. */
  readonly about: readonly string[] | null;
  readonly budget: Budget;
}

/** An answer that is so old that every retry is due. */
export const OLD_MS = 32_000;
/** From so many attempts on the decisions tell none apart: the wait has reached its cap, patience its end. */
const ATTEMPTS_CAP = 8;

export interface Sealed {
  readonly state: State;
  /** Equal for states that go on alike. */
  readonly print: string;
  /** A number of each prefix that no identifier of the state has. */
  readonly unused: (prefix: string) => string;
}

/** A state without what nothing in it can lead to any more, and its print. */
export function seal(whole: State): Sealed {
  const { nowMs, memory, budget } = whole;
  const { programs, minted, spent, ...world } = whole.world;
  const living = Object.fromEntries(Object.entries(programs).filter(([, { alive }]) => alive));
  const hands = memory === null ? EMPTY_HANDS : whole.hands;
  const rooted = [
    recordsText(whole.records, nowMs),
    plain({ ...world, living, budget }, nowMs),
    ...Object.entries(memory?.lanes ?? {}).map(([id, lane]) => laneText(id, lane, nowMs, memory?.due === true)),
    memory === null ? 'dead' : vigilText(memory, nowMs),
    memory?.due === true ? (whole.about?.join() ?? 'anything') : '',
  ].join('\n');
  const ids = new Set([...(rooted.match(IDS) ?? []), ...hands.channels, ...hands.watched, ...hands.notices]);
  const isNamed = (text: string): boolean => (text.match(IDS) ?? []).every((id) => ids.has(id));
  const kept = <T>(of: Readonly<Record<string, T>>): Readonly<Record<string, T>> => {
    const entries = Object.entries(of);
    const those = entries.filter(([id]) => isNamed(id));
    return those.length === entries.length ? of : Object.fromEntries(those);
  };
  const state: State = {
    ...whole,
    records: keptRecords(whole.records, isNamed),
    world: { ...world, programs: kept(programs), minted: kept(minted), spent: spent.filter(isNamed) },
    memory: memory === null ? null : withAnswers(memory, isNamed),
    hands,
  };
  const rename = renamer();
  const dead = Object.entries(state.world.programs).filter(([, { alive }]) => !alive);
  const sets = [
    ...Object.values(hands),
    dead.map(([id, { said }]) => `${id} ${said?.state} ${said?.epoch} ${said?.sequence}`),
    Object.keys(state.world.minted),
    state.world.spent,
  ];
  const text = [
    rename(rooted),
    ...sets.map((set: readonly string[]) => set.map(rename).sort().join()),
    ...answersOf(state, nowMs).map(
      ({ texts, ordered }) => `${texts.map(rename).sort().join()}|${ordered.map(rename).join()}`,
    ),
  ].join('\n');
  return { state, print: hash('sha1', text, 'base64'), unused: unusedIn(ids) };
}

/** Identifiers by the order in which they appear: which number one got is nobody's business. */
function renamer(): (text: string) => string {
  const names = new Map<string, string>();
  return (text) =>
    text.replace(IDS, (id) => {
      const known = names.get(id) ?? `${id.slice(0, id.indexOf('-'))}#${names.size}`;
      names.set(id, known);
      return known;
    });
}

const unusedIn =
  (ids: ReadonlySet<string>) =>
  (prefix: string): string => {
    for (let number = 1; ; number += 1) if (!ids.has(`${prefix}-${number}`)) return `${prefix}-${number}`;
  };

/** Records that are read again by name only: they go with the last that names them. */
const NAMED_KINDS = ['activation ', 'transaction ', 'ready-proof ', 'incident '];

function keptRecords(records: Records, isNamed: (name: string) => boolean): Records {
  const gone = [...records.keys()].filter(
    (name) => NAMED_KINDS.some((kind) => name.startsWith(kind)) && !isNamed(name),
  );
  if (gone.length === 0) return records;
  return new Map([...records].filter(([name]) => !gone.includes(name)));
}

function withAnswers(memory: Memory, isNamed: (key: string) => boolean): Memory {
  const kept = (answers: Memory['vigil']['answers']) => answers.filter(([key]) => isNamed(key));
  const lanes = Object.entries(memory.lanes).map(([id, lane]) => [id, { ...lane, answers: kept(lane.answers) }]);
  return {
    ...memory,
    lanes: Object.fromEntries(lanes),
    vigil: { ...memory.vigil, answers: kept(memory.vigil.answers) },
  };
}

/** Transactions that a target still works at, its own record and continuity's; everything else is written only. */
function recordsText(records: Records, nowMs: number): string {
  let text = '';
  for (const [name, value] of records) {
    if (name.startsWith('target ')) text += plain(value, nowMs);
    else if (name.startsWith('continuity ')) text += plain(value, nowMs);
    else if (name.startsWith('transaction ')) text += transactionText(value as unknown as TransactionRecord, nowMs);
  }
  return text;
}

function transactionText(tx: TransactionRecord, nowMs: number): string {
  const { id, request, state, clock, freezes, result, ended } = tx;
  if (ended) return '';
  const outcome = result === null ? '-' : `${result.outcome} ${result.refusal?.code ?? ''}`;
  const elapsedMs = distance(clock.startedAt.monotonicMs + clock.pausedMs, clock.frozenSince?.monotonicMs ?? nowMs);
  const noted = freezes.at(-1);
  const freeze = noted === undefined ? '-' : `${noted.phase} ${noted.record} ${noted.admittedAt !== null}`;
  const at = `${plain(state, nowMs)} ${elapsedMs} ${clock.frozenSince !== null}`;
  return `${id} ${request.kind} ${at} ${freeze} ${outcome};`;
}

type LaneMemory = Memory['lanes'][string];

function laneText(id: string, lane: LaneMemory, nowMs: number, isDue: boolean): string {
  const { reached, receipts, running, readings, readAtMs, waiting } = lane;
  const marks = Object.entries(reached).map(([phase, atMs]) => `${phase} ${distance(atMs, nowMs)}`);
  const until = isDue || waiting === null ? '-' : waitText(waiting.wait, nowMs);
  const age = readings === null ? '-' : distance(readAtMs, nowMs);
  return `${id} ${marks.join()} ${plain([receipts, running, readings], nowMs)} ${age} ${until};`;
}

const waitText = ({ untilMs, wakeAtMs }: NonNullable<LaneMemory['waiting']>['wait'], nowMs: number): string =>
  `${untilMs === null ? '-' : distance(untilMs, nowMs)} ${wakeAtMs !== null && wakeAtMs !== untilMs}`;

function vigilText({ vigil, due }: Memory, nowMs: number): string {
  const { process, heard, running, rest } = vigil;
  const attempt = rest?.attemptAtMs ?? null;
  const resting = due ? '' : `${rest?.wakeAtMs !== null} ${attempt === null ? '-' : distance(attempt, nowMs)}`;
  return `${due} ${process.kind} ${heard?.activation} ${plain(running, nowMs)} ${resting}`;
}

interface AnswerTexts {
  readonly texts: readonly string[];
  /** Keys of those whose order matters: one decision compares them. */
  readonly ordered: readonly string[];
}

/** Answers by their keys, without those that no later decision looks at. */
function answersOf({ memory, records }: State, nowMs: number): readonly AnswerTexts[] {
  if (memory === null) return [];
  const lanes = Object.entries(memory.lanes).map(([id, { answers }]) => {
    const tx = records.get(nameOf('transaction', id)) as unknown as TransactionRecord;
    return answerTexts(
      answers.filter(([key]) => isLookedAt(tx.state, key)),
      nowMs,
      tx.state,
    );
  });
  return [...lanes, answerTexts(memory.vigil.answers, nowMs, null)];
}

function answerTexts(answers: Memory['vigil']['answers'], nowMs: number, at: DeployState | null): AnswerTexts {
  const relaunches = at !== null && 'passage' in at && at.passage !== null && at.passage.relaunches > 0;
  const texts = answers.map(([key, { outcome, atMs, attempts }]) => {
    const value = outcome.ok ? (VALUED.test(key) ? plain(outcome.value, nowMs) : 'ok') : outcome.refusal.code;
    const isRepeated = REPEATED.test(key) || (relaunches && key.startsWith('start '));
    if (outcome.ok && !isRepeated) return `${key}:${value}`;
    const age = nowMs - atMs >= OLD_MS ? 'old' : distance(atMs, nowMs);
    return `${key}:${value} ${outcome.ok ? '' : Math.min(attempts, capOf(key, at))} ${age}`;
  });
  return { texts, ordered: answers.filter(([key]) => COMPARED.test(key)).map(([key]) => key) };
}

/** Before a handover the candidate's lease connection is asked for until it stands, the incumbent's three times. */
function capOf(key: string, at: DeployState | null): number {
  if (at === null || 'passage' in at || !key.startsWith('open-channel ')) return ATTEMPTS_CAP;
  return 'launch' in at && key.endsWith(` ${at.launch?.id}`) ? 1 : 3;
}

type DeployState = TransactionRecord['state'];

/** Before the phase is left that an effect belongs to, nothing else is of interest in it; nor is it afterwards. */
const PHASES_OF: readonly (readonly [RegExp, readonly DeployState['phase'][]])[] = [
  [/^plan$/, ['planned']],
  [/^materialize$/, ['materialized']],
  [/^(?:seal|rehearse)$/, ['sealed']],
  [/^publish-expected /, ['expected-published']],
  [/^write-claim /, ['activation-issued', 'candidate-started', 'activation-observed', 'warming']],
];
/** What ends a transaction. */
const LAST = /^(?:open-requests|end-process|demote|withdraw|retire|release-route|publish-activation|autopsy)/;

function isLookedAt({ phase }: DeployState, key: string): boolean {
  if (phase === 'draining' || phase === 'aborting') return LAST.test(key);
  const only = PHASES_OF.find(([kind]) => kind.test(key));
  return only === undefined || only[1].includes(phase);
}

const COMPARED = /^(?:publish-route|hold-route|in-flight)/;
/** Asked again after a moment although they were answered well. */
const REPEATED = /^(?:observe|confirm|swap|end-process|in-flight|open-requests|hold-route)/;
/** Answers whose value says more than that it was done. */
const VALUED =
  /^(?:observe|confirm|swap|relinquish|echo|end-process|in-flight|open-requests|mint|start|stage-route|autopsy)/;
