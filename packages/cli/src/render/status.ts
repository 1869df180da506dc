import type { IncarnationStatus, Status, TargetStatus } from '@idunn/client';
import { waitText } from './phases.ts';
import { printable } from './refusal.ts';
import { healthMark, type Signs, type Style, signsOf } from './style.ts';
import { table, widthOf } from './table.ts';
import { ago, plural, short, timeOf } from './words.ts';

/**
 * The fleet for a person: a head line, then each target with the three truths of each incarnation side by side (I4).
 */
export function renderStatus(status: Status, foundBy: string, nowMs: number, style: Style): string[] {
  const { fleet, machine, directory, daemon } = status;
  return [
    `${style.bold(fleet)} on ${machine}  ${style.dim(`${directory} (${foundBy})`)}`,
    style.dim(
      `daemon ${daemon.version}, pid ${daemon.pid}, since ${ago(daemon.startedAt, nowMs)}; ${separationOf(status)}`,
    ),
    ...faultLines(status, style),
    ...fleetIncidentLines(status, nowMs, style),
    ...status.targets.flatMap((target) => ['', ...renderTarget(target, nowMs, style)]),
    ...(status.targets.length === 0 ? ['', 'No target yet: add a file under bindings in the fleet’s directory.'] : []),
  ];
}

/** What runs goes on by the plans that were made; the next command is what needs the files. */
function faultLines({ faults }: Status, style: Style): string[] {
  if (faults.length === 0) return [];
  const sign = style.bad(signsOf(style).no);
  return [
    '',
    `${sign} ${plural(faults.length, 'fault')} in the fleet’s files; idunn plan TARGET shows each with its line`,
    ...faults.map(({ file, line, column, message }) => `  ${file}:${line}:${column}: ${message}`),
  ];
}

/** What is amiss with all targets at once, or with what they lean on. */
function fleetIncidentLines({ incidents }: Status, nowMs: number, style: Style): string[] {
  if (incidents.length === 0) return [];
  return ['', ...incidents.map((one) => `${style.bad(signsOf(style).no)} ${incidentText(one, nowMs, style)}`)];
}

const incidentText = (
  { code, detail, since, remedy }: Status['incidents'][number],
  nowMs: number,
  style: Style,
): string => `${style.bad(code)}  ${printable(detail)} (${ago(since, nowMs)}); what to do: ${remedy}`;

const SEPARATIONS = {
  'same-user': 'I1 and I2 hold against crashes and bugs only: not everything has a user of its own',
  'user-per-target': 'each target runs as its own user; a candidate may have its incumbent’s',
  'user-per-workload': 'each workload runs as its own user',
} as const satisfies Record<Status['separation'], string>;

const separationOf = ({ separation }: Status): string => SEPARATIONS[separation];

export function renderTarget(target: TargetStatus, nowMs: number, style: Style): string[] {
  const signs = signsOf(style);
  const { admitted } = target;
  const head = [
    style.bold(target.target),
    healthMark(target.health, style),
    ...(admitted === null
      ? []
      : [
          `revision ${short(admitted.revision)}`,
          `admitted ${ago(admitted.admittedAt, nowMs)}`,
          ...admitted.processes.map(({ pid }) => `pid ${pid}`),
          ...(target.runsAs === undefined ? [] : [`user ${target.runsAs.uid}`]),
        ]),
  ].join('  ');
  const branches = [
    ...transactionLines(target, style),
    ...target.queued.map(({ transaction, actor, since }) => `queued  ${transaction} by ${actor}, ${ago(since, nowMs)}`),
    ...target.freezes.map((freeze) => `${style.note('frozen')}  ${stopText(freeze, nowMs)}`),
    ...(target.hold === null ? [] : [`${style.note('held')}    ${stopText(target.hold, nowMs)}`]),
    ...authorityLines(target, signs),
    ...(target.rollout?.strategy === 'stop-then-start' ? [`rollout stop-then-start: ${target.rollout.reason}`] : []),
    ...attendedLines(target, nowMs, style),
    ...continuityLines(target, nowMs, style),
    ...target.incidents.map((one) => incidentText(one, nowMs, style)),
  ];
  const truths = truthTable(target.incarnations, nowMs, style);
  const last = truths.length === 0 ? branches.length - 1 : branches.length;
  return [
    head,
    ...branches.map((line, index) => `  ${index === last ? signs.last : signs.branch} ${line}`),
    ...truths.map((line, index) => `  ${index === 0 ? signs.last : '  '} ${line}`),
  ];
}

const stopText = ({ by, reason, since, clearedBy }: TargetStatus['freezes'][number], nowMs: number): string =>
  printable(`by ${by}, ${ago(since, nowMs)}: ${reason}; to clear it: ${clearedBy}`);

function transactionLines({ transaction }: TargetStatus, style: Style): string[] {
  if (transaction === null) return [];
  const { id, kind, phase, since, waitingOn } = transaction;
  const line = `${kind}  ${style.bold(phase)} since ${timeOf(since)}  ${style.dim(id)}`;
  if (waitingOn === null) return [line];
  return [line, `${style.note('waiting')} ${waitText(waitingOn)}`];
}

function authorityLines({ lease, route }: TargetStatus, signs: Signs): string[] {
  const lines: string[] = [];
  if (lease !== null) {
    const holder = lease.activation === null ? 'nobody' : short(lease.activation);
    lines.push(
      lease.state === 'held'
        ? `lease   epoch ${lease.epoch}, held by ${holder}`
        : `lease   epoch ${lease.epoch}, ${lease.state}`,
    );
  }
  if (route !== null) {
    const members = route.members.map(({ incarnation, backend }) => `${backend} (${short(incarnation)})`);
    lines.push(`route   ${route.endpoint} ${signs.arrow} ${members.length === 0 ? 'nobody' : members.join(', ')}`);
    for (const { file, names, expiresAt } of route.certificates) {
      const until = expiresAt === null ? 'cannot be read' : `until ${expiresAt.slice(0, 10)}`;
      lines.push(`tls     ${names.length === 0 ? file : names.join(', ')} ${until}`);
    }
  }
  return lines;
}

/** What the attendant read last of each activation that it speaks for (F5). */
function attendedLines({ attended }: TargetStatus, nowMs: number, style: Style): string[] {
  return attended.map(({ reading, inARow, activation }) => {
    if (reading === null) return `${style.note('probe')}   ${short(activation)} was not looked at yet`;
    const { good, said, body, readAt } = reading;
    const verdict = good ? 'good' : style.bad(`bad, ${plural(inARow, 'time')} in a row`);
    const shown = good || body === null || body.trim() === '' ? '' : `: ${body.replaceAll(/\s+/g, ' ').trim()}`;
    return `probe   ${verdict}, ${ago(readAt, nowMs)}: ${said}${shown}`;
  });
}

function continuityLines({ continuity }: TargetStatus, nowMs: number, style: Style): string[] {
  if (continuity.streak === 0) return [];
  const next = continuity.nextAttemptAt === null ? '' : `, next attempt at ${timeOf(continuity.nextAttemptAt)}`;
  const due = continuity.nextAttemptAt !== null && Date.parse(continuity.nextAttemptAt) < nowMs ? ' (due)' : '';
  return [`${style.note('restarts')}  ${plural(continuity.streak, 'failure')} in a row${next}${due}`];
}

/** Expected, Present and Ready in columns, a row for each incarnation; disagreements below their row. */
export function truthTable(incarnations: readonly IncarnationStatus[], nowMs: number, style: Style): string[] {
  if (incarnations.length === 0) return [];
  const names = ['incarnation', 'role', 'Expected', 'Present', 'Ready'].map(style.dim);
  const cells = incarnations.map((one) => truthRow(one, nowMs, style));
  const rows = table([names, ...cells]);
  // On a narrow terminal the three truths stand below each other, whole; nothing of them is cut off.
  const narrow = rows.some((row) => widthOf(row) + TREE_COLUMNS > style.columns);
  const told = narrow ? cells.map((row) => stacked(names, row)) : rows.slice(1).map((row) => [row]);
  return [
    ...(narrow ? [] : rows.slice(0, 1)),
    ...incarnations.flatMap(({ disagreements }, index) => [
      ...(told[index] ?? []),
      ...disagreements.map(({ code, detail }) => `  ${style.bad(`${signsOf(style).no} ${code}`)}: ${detail}`),
    ]),
  ];
}

/** What the branches of a target's tree take at the left. */
const TREE_COLUMNS = 5;

/** Incarnation and role in one line, then each truth with its name. */
function stacked(
  [, , ...names]: readonly string[],
  [incarnation = '', role = '', ...truths]: readonly string[],
): string[] {
  return [`${incarnation}  ${role}`, ...table(names.map((name, index) => [`  ${name}`, truths[index] ?? '']))];
}

function truthRow(one: IncarnationStatus, nowMs: number, style: Style): string[] {
  const signs = signsOf(style);
  return [
    short(one.incarnation),
    one.role,
    `${signs.yes} ${short(one.expected.revision)}`,
    presentCell(one, nowMs, style),
    one.ready === null
      ? style.note(`${signs.doubt} not seen`)
      : style.good(`${signs.yes} ${short(one.ready.receipt)}, ${ago(one.ready.observedAt, nowMs)}`),
  ];
}

function presentCell({ present }: IncarnationStatus, nowMs: number, style: Style): string {
  const signs = signsOf(style);
  if (present === null) return style.note(`${signs.doubt} no word yet`);
  const word = `${present.state} #${present.sequence}, ${ago(present.observedAt, nowMs)}`;
  if (!present.fresh) return style.note(`${signs.doubt} stale: ${word}`);
  switch (present.state) {
    case 'active':
      return style.good(`${signs.yes} ${word}`);
    case 'warming':
      return `${signs.wait} ${word}`;
    case 'degraded':
      return style.note(`! ${word}`);
    case 'failed':
      return style.bad(`${signs.no} ${word}`);
  }
}
