import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PYTHON, Yard } from './yard.ts';

/** Started with a descriptor of a key, as from a careless service file; starts a step, confined or plainly. */
const [how, script = ''] = process.argv.slice(2);
if (how === 'plainly') {
  await once(spawn(PYTHON, ['-c', script], { stdio: ['ignore', 'inherit', 'inherit'] }), 'exit');
} else {
  const yard = await Yard.open();
  const { lines } = await yard.confined({ script });
  await yard.close();
  for (const line of lines) console.log(line);
}
