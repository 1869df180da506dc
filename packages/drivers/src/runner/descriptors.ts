import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Descriptors that this process was started with and would hand on to whatever it starts: Node closes only the lowest
 * of them. Its own are all closed on exec.
 */
export function handedOn(): readonly number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && !closesOnExec(descriptor));
}

function closesOnExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags === undefined || (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch {
    return true; // The directory's own descriptor, closed meanwhile.
  }
}

type Stdio = 'ignore' | 'pipe' | number;

/** `stdio` for `spawn` with `nothing`, a descriptor of /dev/null, in place of everything that would be handed on. */
export function onlyThese(stdio: readonly Stdio[], nothing: number): Stdio[] {
  const all: Stdio[] = [...stdio];
  for (const descriptor of handedOn()) {
    if (descriptor < stdio.length) continue;
    while (all.length < descriptor) all.push('ignore');
    all[descriptor] = nothing;
  }
  return all;
}

/** Runs `act` with a descriptor of /dev/null. */
export function withNothing<T>(act: (nothing: number) => T): T {
  const nothing = openSync('/dev/null', 'r+');
  try {
    return act(nothing);
  } finally {
    closeSync(nothing);
  }
}
