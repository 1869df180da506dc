import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { HostileCase } from './case.ts';
import { TOKEN, type Yard } from './yard.ts';

const STARTER = fileURLToPath(new URL('./descriptor-starter.ts', import.meta.url));
/** Beyond the lowest, which Node closes by itself. */
const DESCRIPTOR = 40;

const READ_ALL = `
import os
for name in os.listdir("/proc/self/fd"):
    if int(name) > 2:
        try: print(os.pread(int(name), 100, 0).decode())
        except (OSError, UnicodeDecodeError): pass
print("looked", flush=True)`;

/** A descriptor that the daemon itself was started with. */
export function descriptorCase(yard: Yard): HostileCase {
  const reads = async (how: 'confined' | 'plainly'): Promise<boolean> => {
    const key = await open(yard.key);
    try {
      const holes = Array.from({ length: DESCRIPTOR - 3 }, () => 'ignore' as const);
      const starter = spawn(process.execPath, ['--conditions=source', STARTER, how, READ_ALL], {
        stdio: ['ignore', 'pipe', 'inherit', ...holes, key.fd],
      });
      const said = starter.stdout === null ? '' : await text(starter.stdout);
      if (!said.includes('looked')) throw new Error(`the step did not look at its descriptors: ${said}`);
      return said.includes(TOKEN);
    } finally {
      await key.close();
    }
  };
  return {
    name: 'a step uses a descriptor that its starter was started with',
    attempt: async () => ({ escaped: await reads('confined'), refusal: null }),
    control: async () => ({ succeeded: await reads('plainly') }),
  };
}
