import { openFileTrail } from '../file-trail.ts';

// Appends lines to a log, as one of several processes.
const [file = '', actor = '', count = ''] = process.argv.slice(2);
const trail = openFileTrail(file);
for (let n = 0; n < Number(count); n++) {
  const draft = {
    actor,
    tenant: 'local',
    from: 'test',
    atMs: n,
    kind: 'operation',
    target: 'qa',
    outcome: 'done',
  } as const;
  const answer = await trail.append({ ...draft, what: `${n}`, detail: {} });
  if (!answer.ok) throw new Error(answer.refusal.reason);
}
trail.close();
