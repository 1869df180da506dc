import { userInfo } from 'node:os';
import type { Doctor, DoctorCheck } from '@idunn/client';
import { type CommonOptions, type Context, openContext, printJson, printLines, refuse } from '../context.ts';
import { note } from '../doctor/check.ts';
import { diskSpace, keyPermissions, linger, socketPaths } from '../doctor/files.ts';
import { fleetFiles } from '../doctor/fleet-files.ts';
import { controlGroups, git, nodeVersion, separation } from '../doctor/programs.ts';
import type { Environment } from '../edge/environment.ts';
import { EXIT } from '../exit.ts';
import { renderDoctor } from '../render/doctor.ts';

/** `idunn doctor`: looks, changes nothing, and fails when something is bad. A daemon adds what only it can see. */
export async function doctor(environment: Environment, options: CommonOptions): Promise<number> {
  const opened = await openContext(environment, options);
  if (!opened.ok) return refuse(environment, options.json ?? false, opened.refusal);
  const { directories, style, json } = opened.value;
  const { username, uid } = userInfo();
  const checks: DoctorCheck[] = [
    nodeVersion(process.versions.node),
    await git(),
    await controlGroups(),
    socketPaths(directories),
    await linger(directories, { name: username, uid }),
    await diskSpace('state', directories.state),
    await diskSpace('releases', directories.releases),
    await diskSpace('logs', directories.logs),
    await diskSpace('runtime', directories.runtime),
    await keyPermissions(directories),
    ...(await daemonChecks(opened.value)),
  ];
  const answer: Doctor = { schema: 'idunn.doctor/v1', checks };
  if (json) printJson(environment, answer);
  else printLines(environment.out, renderDoctor(answer, style));
  return checks.some(({ verdict }) => verdict === 'bad') ? EXIT.failed : EXIT.done;
}

async function daemonChecks({ client }: Context): Promise<readonly DoctorCheck[]> {
  const answer = await client.doctor();
  if (answer.ok) return [fleetFiles(await client.fleet()), ...answer.value.checks];
  return [
    separation(),
    note('daemon', `${answer.refusal.reason}; its store and clocks were not looked at`, answer.refusal.remedy),
  ];
}
