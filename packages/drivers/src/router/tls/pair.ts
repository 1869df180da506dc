import { createPrivateKey, X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { SecureContext, SecureContextOptions } from 'node:tls';
import { type Outcome, ok, refusal, refused } from '@idunn/kernel';
import type { RouteTls } from '@idunn/release';
import { LIMITS } from '../limits.ts';

/** Where a certificate with its chain, and its private key, are kept. */
export type PairFiles = RouteTls['certificates'][number];

/** A certificate as it is served. */
export interface Pair {
  readonly credentials: SecureContextOptions;
  readonly context: SecureContext;
  /** Whether the certificate is for this host name. */
  readonly fits: (name: string) => boolean;
  /** The names that it is for, as it says them. */
  readonly names: readonly string[];
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Others may read it, or another than its owner may write it: then the key is no secret, or not the owner's. */
const TOO_OPEN = 0o026;

/** Reads both files as they are now; refused as `route-certificate-unusable` with the reason, the key never in it. */
export async function readPair(files: PairFiles): Promise<Outcome<Pair>> {
  const unusable = (because: string): Outcome<never> =>
    refused(
      refusal('route-certificate-unusable', `The certificate ${files.certificate} cannot be served: ${because}.`),
    );
  let cert: Buffer;
  let key: Buffer;
  try {
    cert = await bytesOf(files.certificate, 0);
    key = await bytesOf(files.key, TOO_OPEN);
  } catch (error) {
    return unusable((error as Error).message);
  }
  try {
    const x509 = new X509Certificate(cert);
    if (!x509.checkPrivateKey(createPrivateKey(key))) return unusable(`${files.key} is not its private key`);
    const { createSecureContext } = process.getBuiltinModule('node:tls');
    const credentials = { cert, key, minVersion: 'TLSv1.2' } as const;
    return ok({
      credentials,
      context: createSecureContext(credentials),
      fits: (name) => x509.checkHost(name) !== undefined,
      names: namesOf(x509),
      fromMs: Date.parse(x509.validFrom),
      untilMs: Date.parse(x509.validTo),
    });
  } catch (error) {
    return unusable(`it is no PEM certificate with its key (${(error as NodeJS.ErrnoException).code ?? 'unreadable'})`);
  }
}

async function bytesOf(path: string, forbidden: number): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { mode, size } = await file.stat();
    if ((mode & forbidden) !== 0) {
      throw new Error(`others may read or change ${path} (mode ${(mode & 0o777).toString(8)}); make it 0600 or 0640`);
    }
    if (size > LIMITS.certificateFileBytes) throw new Error(`${path} has ${size} bytes`);
    return await file.readFile();
  } finally {
    await file?.close();
  }
}

function namesOf({ subjectAltName, subject }: X509Certificate): readonly string[] {
  const named = (subjectAltName ?? '').split(', ').flatMap((entry) => {
    const [kind, name] = entry.split(/:(.*)/s);
    return name !== undefined && (kind === 'DNS' || kind === 'IP Address') ? [name] : [];
  });
  return named.length > 0
    ? named
    : subject
        .split('\n')
        .filter((line) => line.startsWith('CN='))
        .map((line) => line.slice(3));
}
