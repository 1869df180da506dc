import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { MintRequest } from '@idunn/authority';
import {
  canonicalJson,
  freshSeed,
  type Header,
  headerSchema,
  type Outcome,
  ok,
  openEnvelope,
  publicKeyOf,
  refusal,
  refused,
  type SigningKey,
  signEnvelope,
  signingKeyFromSeed,
  verificationKeyOf,
} from '@idunn/kernel';
import type { Activation } from '@idunn/readiness';
import { z } from 'zod';
import { type ActivationFiles, activationFiles, checkSocketPath } from './activation-directory.ts';
import { makeDirectory, makeFifo, namesIn, placePrivate, readIfThere } from './files.ts';
import { activationStatement, launchDocument, type Minted } from './launch-document.ts';
import type { ProcessDriverOptions } from './options.ts';
import type { Ports } from './ports.ts';
import { probeWords } from './probe-words.ts';
import { type GatheredSecret, gatherSecrets } from './secrets.ts';
import { chooseUser } from './user/choose.ts';
import { checkPassable, giveTo, letPass, takeBack } from './user/give.ts';
import type { RunsAs } from './user/words.ts';

const statementSchema = z.strictObject({
  header: headerSchema,
  record: z.strictObject({
    schema: z.literal('idunn.activation/v1'),
    activation: z.string(),
    incarnation: z.templateLiteral([z.string(), '@sha256:', z.string()]),
    target: z.string(),
    publicKey: z.string(),
    keyId: z.string(),
    endpoint: z.strictObject({ host: z.string(), port: z.int() }).nullable(),
  }),
});

/** Mints activations: directory, keys, documents, secrets and port. */
export class Mint {
  readonly #options: ProcessDriverOptions;
  readonly #ports: Ports;
  readonly #minting = new Map<string, Promise<Outcome<Activation>>>();

  constructor(options: ProcessDriverOptions, ports: Ports) {
    this.#options = options;
    this.#ports = ports;
  }

  mint(request: MintRequest): Promise<Outcome<Activation>> {
    const running = this.#minting.get(request.activation);
    if (running !== undefined) return running;
    const minting = this.#mint(request).finally(() => this.#minting.delete(request.activation));
    this.#minting.set(request.activation, minting);
    return minting;
  }

  async #mint(request: MintRequest): Promise<Outcome<Activation>> {
    const files = activationFiles(this.#options.roots.runtime, request.activation);
    const fits = checkSocketPath(files.socket);
    if (!fits.ok) return fits;
    if ((await readIfThere(files.launch)) !== null) return this.#earlier(files, request);
    const keys = await this.#gather(request);
    if (!keys.ok) return keys;
    const port = await this.#ports.promise(request.activation, request.launch.endpoint, request.takenPorts);
    if (!port.ok) return port;
    const activationSeed = freshSeed();
    const activationKey = signingKeyFromSeed(activationSeed);
    const { endpoint } = request.launch;
    const activation: Activation = {
      schema: 'idunn.activation/v1',
      activation: request.activation,
      incarnation: request.incarnation,
      target: request.expected.target,
      publicKey: publicKeyOf(activationKey.privateKey),
      keyId: activationKey.keyId,
      endpoint: endpoint === null || port.value === null ? null : { host: endpoint.host, port: port.value },
    };
    const { launch, state, health } = request;
    const runs = chooseUser(launch, state, launch.identity === undefined ? [] : await this.#usersInTurn());
    const passable = runs === null ? ok('passable') : await this.#checkPassable(request, files, runs);
    if (!passable.ok) return passable;
    const probe = probeWords(health, {
      launch,
      state,
      activation,
      activationDirectory: files.directory,
      artifactFile: (artifact, path) => this.#options.artifactFile(request.expected.release, artifact, path),
      runs,
    });
    if (!probe.ok) return probe;
    await this.#write(files, { request, activation, probe: probe.value }, { ...keys.value, activationSeed }, runs);
    return ok(activation);
  }

  /** What was answered before, from the signed record; never a second key for one activation. */
  async #earlier(files: ActivationFiles, request: MintRequest): Promise<Outcome<Activation>> {
    const activation = await readActivation(files, this.#audience(), this.#options.authorityKey, request.activation);
    if (!activation.ok) return activation;
    if (activation.value.incarnation !== request.incarnation) {
      return refused(
        refusal(
          'activation-differs',
          `${request.activation} was minted for ${activation.value.incarnation}, not ${request.incarnation}.`,
        ),
      );
    }
    if (activation.value.endpoint !== null) this.#ports.remember(request.activation, activation.value.endpoint.port);
    return activation;
  }

  /** Everything that can be refused, before anything is written. */
  async #gather(request: MintRequest): Promise<Outcome<Credentials>> {
    const signer = await this.#options.signerKeyFor(request.expected.target);
    if (!signer.ok) return signer;
    const secrets = await gatherSecrets(request.launch);
    return secrets.ok ? ok({ signerSeed: seedOf(signer.value), secrets: secrets.value }) : secrets;
  }

  async #write(
    files: ActivationFiles,
    said: Pick<Minted, 'request' | 'activation' | 'probe'>,
    keys: Credentials & { readonly activationSeed: string },
    runs: RunsAs | null,
  ): Promise<void> {
    const { authorityKey, observerEndpoint } = this.#options;
    const audience = this.#audience();
    const minted: Minted = {
      ...said,
      observer: observerEndpoint(said.activation.target),
      audience,
      authorityKey,
    };
    const envelope = (payload: unknown): string => `${canonicalJson(signEnvelope(payload, [authorityKey]))}\n`;
    const attended = said.request.health.kind === 'attended';
    const seeds = attended ? files.keys.attendant : files.keys.program;
    await takeBack(files.directory);
    for (const secrets of [files.secrets, files.keptSecrets]) await makeDirectory(secrets);
    const document = envelope(launchDocument(minted));
    await Promise.all([
      placePrivate(seeds.activation, `${keys.activationSeed}\n`),
      placePrivate(seeds.signer, `${keys.signerSeed}\n`),
      placePrivate(files.activation, envelope(activationStatement(minted))),
      makeFifo(files.alive),
      ...(attended ? [] : [placePrivate(files.document, document)]),
      ...keys.secrets.flatMap(({ name, bytes }) =>
        [files.secrets, files.keptSecrets].map((secrets) => placePrivate(join(secrets, name), bytes)),
      ),
    ]);
    if (runs !== null) await giveTo(files.directory, runs);
    // Last: a mint without it was never answered, and begins anew.
    await placePrivate(files.launch, document);
  }

  /** The users of all kept activations: those whose process lives last, and each kind eldest first. */
  async #usersInTurn(): Promise<readonly number[]> {
    const { runtime } = this.#options.roots;
    const kept = await Promise.all(
      (await namesIn(join(runtime, 'a'))).map(async (name) => {
        const status = await lstat(join(runtime, 'a', name)).catch(() => null);
        if (status === null) return null;
        return {
          uid: status.uid,
          atMs: status.birthtimeMs,
          lives: await livesAs(join(runtime, 'own', name), status.uid),
        };
      }),
    );
    return kept
      .filter((one) => one !== null)
      .toSorted((one, other) => Number(one.lives) - Number(other.lives) || one.atMs - other.atMs)
      .map(({ uid }) => uid);
  }

  /** Everything that the program itself has to reach. */
  async #checkPassable({ launch, expected, state }: MintRequest, files: ActivationFiles, runs: RunsAs) {
    const { program } = launch;
    const packaged = program.kind === 'artifact' ? program : program.entry;
    await makeDirectory(dirname(files.directory));
    await letPass(dirname(files.directory));
    const paths = [
      files.directory,
      this.#options.artifactFile(expected.release, packaged.artifact, packaged.path),
      ...(program.kind === 'interpreter' && program.origin === 'host' ? [program.path] : []),
      ...(state === null ? [] : [state.root]),
    ];
    for (const path of paths) {
      const passable = await checkPassable(path, runs);
      if (!passable.ok) return passable;
    }
    return ok('passable');
  }

  #audience(): Header['audience'] {
    return { fleet: this.#options.fleet, machine: this.#options.machine };
  }
}

/** Whether the recorded process of an activation runs as that user. */
async function livesAs(own: string, uid: number): Promise<boolean> {
  const text = await readIfThere(join(own, 'process.json'));
  if (text === null) return false;
  const { pid } = JSON.parse(text) as { readonly pid: number };
  return (await lstat(`/proc/${pid}`).catch(() => null))?.uid === uid;
}

interface Credentials {
  readonly signerSeed: string;
  readonly secrets: readonly GatheredSecret[];
}

/**
 * The activation as this authority minted it: from its own signed record, never from a file that a program may write.
 */
export async function readActivation(
  files: ActivationFiles,
  audience: Header['audience'],
  authorityKey: SigningKey,
  activation: string,
): Promise<Outcome<Activation>> {
  const text = await readIfThere(files.activation);
  if (text === null) {
    return refused(refusal('activation-not-minted', `Activation ${activation} has no directory ${files.directory}.`));
  }
  const opened = openEnvelope({
    envelope: parseOrNull(text),
    keys: [verificationKeyOf(authorityKey)],
    schema: 'idunn.activation/v1',
    shape: statementSchema,
    audience,
    subject: activation,
  });
  if (opened.ok) return ok(opened.value.payload.record);
  return refused(
    refusal('activation-damaged', `The record of activation ${activation} is not valid: ${opened.refusal.reason}`),
  );
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * What a record of `readActivation` says, without a look at who signed it: for what a false word could only be careful
 * about. `null` where it says nothing.
 */
export function saidIn(text: string): Activation | null {
  const envelope = z.object({ payload: z.string() }).safeParse(parseOrNull(text));
  const payload = parseOrNull(Buffer.from(envelope.data?.payload ?? '', 'base64').toString());
  return statementSchema.safeParse(payload).data?.record ?? null;
}

/** The 32-byte seed of a private key, base64. */
function seedOf(key: SigningKey): string {
  const { d } = key.privateKey.export({ format: 'jwk' });
  if (d === undefined) throw new TypeError('a signing key has a private part');
  return Buffer.from(d, 'base64url').toString('base64');
}
