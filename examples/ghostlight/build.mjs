// Assembles `out/`: all that runs, and nothing else. Run by the recipe's build step in a fresh copy of the tree.
import { cpSync, existsSync } from 'node:fs';

if (!existsSync('vendor/workload/index.js')) {
  throw new Error('vendor/workload is missing: copy the built @idunn/workload (its dist folder) there');
}
for (const part of ['package.json', 'src', 'vendor']) cpSync(part, `out/${part}`, { recursive: true });
