import type { MintRequest } from '@idunn/authority';
import { type Outcome, ok } from '@idunn/kernel';
import type { Probe } from '@idunn/release';
import { fillWord, type LaunchSite, launchWords } from './launch-words.ts';
import { type RunsAs, userWords } from './user/words.ts';

/** A probe for one activation: a command in the program's own environment and directory, every slot filled. */
export type ProbeWords =
  | Exclude<Probe, { kind: 'command' }>
  | {
      readonly kind: 'command';
      readonly argv: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly cwd: string;
    };

/**
 * What the attendant needs to look at the program; `null` for one that speaks for itself. A command does not carry the
 * activation: what does is a process of the program.
 */
export function probeWords(
  health: MintRequest['health'],
  site: LaunchSite & { readonly runs: RunsAs | null },
): Outcome<ProbeWords | null> {
  if (health.kind === 'idunn') return ok(null);
  const { probe } = health;
  if (probe.kind !== 'command') return ok(probe);
  const words = launchWords(site);
  if (!words.ok) return words;
  const argv: string[] = [...userWords(site.runs)];
  for (const value of probe.argv) {
    const word = fillWord(value, site);
    if (!word.ok) return word;
    argv.push(word.value);
  }
  const own = Object.entries(words.value.environment).filter(([name]) => !name.startsWith('IDUNN_'));
  const environment = Object.fromEntries(own);
  return ok({ kind: 'command', argv, environment, cwd: words.value.cwd });
}
