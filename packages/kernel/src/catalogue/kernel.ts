import { entries } from './entry.ts';

export const kernelErrors = entries({
  'key-readable-by-others': {
    reason: 'A private key file can be read by others than its owner.',
    remedy: 'Run chmod 600 on the key file, and replace the key if somebody may have read it.',
    blame: 'user',
    retry: 'final',
  },
});
