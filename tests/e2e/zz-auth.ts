import { makeFleet } from './lib/fleet.ts';

const afters: (() => unknown)[] = [];
const t = { after: (f: () => unknown) => afters.push(f), diagnostic: console.log, name: 'zz' } as never;
const fleet = await makeFleet(t);
const PH = process.argv[2] ?? 'candidate-started';
try {
  let pid = await fleet.daemon();
  console.log((await fleet.up('ghostlight')).code);
  await fleet.edit('package.json', (text) => text.replace(/"1\.\d+\.0"/, `"1.7.0"`));
  const receipt: any = await fleet.client.command({ kind: 'up', operationId: 'op', target: 'ghostlight', ref: null });
  const { transaction } = receipt.value;
  const stop = new AbortController();
  for await (const f of fleet.client.events({ transaction, signal: stop.signal }) as any) {
    const phases =
      f.kind === 'snapshot'
        ? f.transaction.phases.map((o: any) => o.phase)
        : f.kind === 'event' && f.event.event === 'phase'
          ? [f.event.phase]
          : [];
    if (phases.includes(PH)) {
      process.kill(pid, 'SIGKILL');
      console.log('killed');
      stop.abort();
      break;
    }
  }
  pid = await fleet.daemon();
  console.log('restarted');
  for (let i = 0; i < 12; i++) {
    await new Promise((r) => setTimeout(r, 1000));
    const s = JSON.parse((await fleet.idunn('status', '--json')).out);
    console.log(
      JSON.stringify(
        s.targets.map((x: any) => [x.target, x.transaction, x.queued, x.incidents, x.admitted?.revision?.slice(0, 6)]),
      ),
    );
    if (s.targets.every((x: any) => x.transaction === null)) break;
  }
  console.log(JSON.stringify((await fleet.up('ghostlight', '--operation-id', 'op')).outcome));
} finally {
  for (const f of afters.reverse()) await f();
}
process.exit(0);
