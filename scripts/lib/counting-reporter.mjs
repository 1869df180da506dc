import { relative } from 'node:path';
import { inspect } from 'node:util';

/**
 * A reporter for Node's test runner that is silent about what passes, tells what fails and where, what had not ended
 * when it was interrupted, and ends with one line of JSON that starts with `#counts ` for the program that called it.
 */
export default async function* counting(source) {
  const begun = new Map();
  for await (const { type, data } of source) {
    if (type === 'test:dequeue') begun.set(keyOf(data), data);
    if (type === 'test:complete') begun.delete(keyOf(data));
    if (type === 'test:interrupted') {
      for (const each of begun.values()) yield `✖ ${each.name} (${whereOf(each)}) had not ended\n`;
    }
    if (type === 'test:fail' && data.details.error?.code === 'ERR_TEST_FAILURE' && isOwnFailure(data)) {
      yield `✖ ${data.name} (${whereOf(data)})\n${indented(textOf(data.details.error.cause ?? data.details.error))}\n`;
    }
    if (type === 'test:stderr' && !data.message.includes('ExperimentalWarning')) yield data.message;
    // The summary without a file is that of the whole run.
    if (type === 'test:summary' && data.file === undefined) {
      const { passed, failed, cancelled, skipped, todo } = data.counts;
      yield `#counts ${JSON.stringify({ passed, failed: failed + cancelled, skipped: skipped + todo })}\n`;
    }
  }
}

/** One test among all files; a name may stand twice in one. */
const keyOf = ({ file, line, column, name }) => `${file}:${line}:${column} ${name}`;

const whereOf = ({ file, line }) => (file === undefined ? '' : `${relative(process.cwd(), file)}:${line}`);

/** A suite fails when one of its tests does, which has been told already. */
const isOwnFailure = ({ details }) => details.error.failureType !== 'subtestsFailed';

/** The error's own words and where in our files it arose; Node's frames say nothing about that. */
function textOf(error) {
  if (!(error instanceof Error) || error.stack === undefined) return inspect(error);
  return error.stack
    .split('\n')
    .filter((line) => !/^\s+at .*\(?node:/.test(line))
    .join('\n');
}

const indented = (text) => text.replace(/^/gm, '    ');
