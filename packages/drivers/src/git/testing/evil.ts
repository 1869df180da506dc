import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Evil {
  readonly program: string;
  /** Whether anybody has run it. */
  readonly ran: () => Promise<boolean>;
}

/** A program that leaves a witness behind, whoever runs it. */
export async function evil(root: string): Promise<Evil> {
  const place = join(root, 'evil');
  const [witness, program] = [join(place, 'witness'), join(place, 'program')];
  await mkdir(place);
  await chmod(place, 0o777);
  await writeFile(program, `#!/bin/sh\ntouch ${witness}\ncat\n`);
  await chmod(program, 0o755);
  const ran = () =>
    stat(witness).then(
      () => true,
      () => false,
    );
  return { program, ran };
}
