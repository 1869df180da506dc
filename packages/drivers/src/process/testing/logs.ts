import { existsSync, mkdirSync, readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';

/** Resolves with the log's text once it matches; looks whenever the log's directory changes. */
export function logged(log: string, pattern: RegExp): Promise<string> {
  mkdirSync(dirname(log), { recursive: true });
  return new Promise((resolve) => {
    const look = (): void => {
      const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
      if (!pattern.test(text)) return;
      watcher.close();
      resolve(text);
    };
    const watcher = watch(dirname(log), look);
    look();
  });
}
