#!/usr/bin/env node
// Kept to what every Node since 12 can parse, so that an old one can say what it lacks.
import process from 'node:process';

if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    'Idunn needs Node 24 or newer, this is ' +
      process.versions.node +
      '; inside the repository, run it with npx, which brings its own.\n',
  );
  process.exitCode = 1;
} else {
  void import('@idunn/cli').then(function (cli) {
    return cli.main();
  });
}
