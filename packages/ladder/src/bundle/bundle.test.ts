import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { zstdCompressSync } from 'node:zlib';
import { digestBytes, type Outcome } from '@idunn/kernel';
import { type DumpReport, part } from '../data/report.ts';
import { answerOf, valueOf } from '../guard/testing/world.ts';
import { seal, unseal, verify } from './bundle.ts';
import { type BundleManifest, manifestPath, manifestText, sealedManifest } from './manifest.ts';
import { packInto } from './pack.ts';
import { unpack } from './unpack.ts';

let root: string;
let staging: string;
let bundle: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'idunn-bundle-'));
  staging = join(root, 'staging');
  bundle = join(root, 'shop.tar.zst');
  mkdirSync(staging);
});
afterEach(() => rmSync(root, { recursive: true }));

const REPORT: DumpReport = {
  parts: [part.complete('database', 41)],
  watermark: { mark: '7', magnitude: { orders: 41 } },
  appMeta: { schema: 'shop/3' },
};

const sealing = (report = REPORT): Promise<Outcome<BundleManifest>> =>
  seal({ staging, bundle, sourceSlot: 'production', takenAtMs: 5, app: 'shop', report });

const LONG = `${'long-'.repeat(40)}ü`;

function fill(): void {
  writeFileSync(join(staging, 'shop.db'), 'x'.repeat(3_000_000), { mode: 0o640 });
  utimesSync(join(staging, 'shop.db'), 1_000, 1_000);
  mkdirSync(join(staging, 'uploads', LONG), { recursive: true });
  writeFileSync(join(staging, 'uploads', LONG, `${'ø'.repeat(100)}.txt`), 'hello');
  writeFileSync(join(staging, 'uploads', 'empty'), '');
  mkdirSync(join(staging, 'uploads-2'));
  writeFileSync(join(staging, 'run.sh'), '#!', { mode: 0o755 });
  mkdirSync(join(staging, 'closed'));
  writeFileSync(join(staging, 'closed', 'in'), 'x');
  chmodSync(join(staging, 'closed'), 0o500);
}

/** Every path beneath with its mode and digest. */
const contentOf = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => {
      const stat = statSync(join(directory, path));
      const content = stat.isDirectory() ? '' : digestBytes(readFileSync(join(directory, path)));
      return `${path} ${(stat.mode & 0o777).toString(8)} ${content}`;
    })
    .toSorted();

test('what was sealed comes out again: content, modes, times, long and empty names and files', async () => {
  fill();
  const before = contentOf(staging);
  const manifest = valueOf(await sealing());
  assert.deepEqual([manifest.sourceSlot, manifest.app, manifest.archive.entries], ['production', 'shop', 9]);
  assert.ok(valueOf(await verify(bundle)).usable);
  const out = join(root, 'out');
  const unsealed = valueOf(await unseal(bundle, out));
  assert.deepEqual([unsealed.usable, unsealed.problems, unsealed.manifest.appMeta], [true, [], { schema: 'shop/3' }]);
  assert.deepEqual(contentOf(out), before);
  assert.equal(statSync(join(out, 'shop.db')).mtimeMs, 1_000_000);
  assert.deepEqual(readdirSync(root).toSorted(), ['out', 'shop.tar.zst', 'shop.tar.zst.json', 'staging']);
});

test('the archive is plain tar and zstd, which other programs read', async () => {
  fill();
  valueOf(await sealing());
  const out = join(root, 'other');
  mkdirSync(out);
  execFileSync('tar', ['--zstd', '-xpf', bundle, '-C', out]);
  assert.deepEqual(contentOf(out), contentOf(staging));
});

test('the same content has the same root digest, whenever and by whomever it was written', async () => {
  fill();
  const first = valueOf(await sealing()).archive.rootDigest;
  utimesSync(join(staging, 'shop.db'), 2_000, 2_000);
  bundle = join(root, 'second');
  assert.equal(valueOf(await sealing()).archive.rootDigest, first);
  writeFileSync(join(staging, 'uploads', 'empty'), '!');
  bundle = join(root, 'third');
  assert.notEqual(valueOf(await sealing()).archive.rootDigest, first);
});

test('an empty directory is a bundle without entries', async () => {
  assert.equal(valueOf(await sealing()).archive.entries, 0);
  assert.deepEqual(contentOf(valueOf(await unseal(bundle, join(root, 'out'))).directory), []);
});

test('a flipped byte anywhere and a cut anywhere are not intact, are refused, and leave nothing behind', async () => {
  writeFileSync(join(staging, 'a'), Buffer.from(Array.from({ length: 4_000 }, (_, n) => (n * 7919) % 251)));
  writeFileSync(join(staging, 'b'), 'b');
  valueOf(await sealing());
  const sound = readFileSync(bundle);
  const places = [
    0,
    5,
    20,
    ...Array.from({ length: 12 }, (_, n) => Math.floor(((n + 1) * sound.length) / 13)),
    sound.length - 1,
  ];
  for (const at of places) {
    const flipped = Buffer.from(sound);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    for (const bytes of [flipped, sound.subarray(0, at)]) {
      writeFileSync(bundle, bytes);
      const report = valueOf(await verify(bundle));
      assert.ok(!report.intact && !report.usable && report.problems.length > 0, `${at}`);
      assert.equal(answerOf(await unseal(bundle, join(root, 'out'))), 'bundle-corrupt');
    }
  }
  writeFileSync(bundle, Buffer.concat([sound, Buffer.from([0])]));
  assert.equal(valueOf(await verify(bundle)).intact, false);
  assert.deepEqual(readdirSync(root).toSorted(), ['shop.tar.zst', 'shop.tar.zst.json', 'staging']);
});

test('corrupt content comes out when that is asked for, and the verdict with it', async () => {
  fill();
  const manifest = valueOf(await sealing());
  const { digest: _, ...body } = manifest;
  const lying = sealedManifest({ ...body, archive: { ...body.archive, rootDigest: digestBytes('other') } });
  writeFileSync(manifestPath(bundle), manifestText(lying));
  const unsealed = valueOf(await unseal(bundle, join(root, 'out'), { acceptCorrupt: true }));
  assert.deepEqual([unsealed.intact, unsealed.problems], [false, ['the content has another root digest']]);
  assert.deepEqual(contentOf(unsealed.directory), contentOf(staging));
});

test('intact is not usable: a partial capture is refused, and named when it is accepted', async () => {
  writeFileSync(join(staging, 'a'), 'a');
  const parts = [part.complete('database', 41), part.skipped('objects', 'no credentials were configured')];
  valueOf(await sealing({ ...REPORT, parts }));
  const report = valueOf(await verify(bundle));
  assert.deepEqual([report.intact, report.usable], [true, false]);
  const refused = await unseal(bundle, join(root, 'out'));
  assert.ok(!refused.ok && refused.refusal.code === 'bundle-incomplete' && /objects/.test(refused.refusal.reason));
  const accepted = valueOf(await unseal(bundle, join(root, 'out'), { acceptIncomplete: true }));
  assert.deepEqual(accepted.completeness, { kind: 'incomplete', parts: ['objects'] });
  bundle = join(root, 'none');
  valueOf(await sealing({ ...REPORT, parts: [] }));
  assert.equal(answerOf(await unseal(bundle, join(root, 'out-2'))), 'bundle-incomplete');
});

test('a manifest that was changed, is of another version, or whose verdict is not its parts’, is refused', async () => {
  const manifest = valueOf(await sealing({ ...REPORT, parts: [] }));
  const { digest: _, ...body } = manifest;
  const file = manifestPath(bundle);
  const forgeries: readonly (readonly [string, string])[] = [
    [manifestText(manifest).replace('production', 'prodaction'), 'bundle-unreadable'],
    [manifestText(sealedManifest({ ...body, completeness: { kind: 'complete' } })), 'bundle-unreadable'],
    [JSON.stringify({ ...manifest, schema: 'idunn.bundle/v2' }), 'bundle-version-unknown'],
    [JSON.stringify({ ...manifest, command: 'rm' }), 'bundle-unreadable'],
    ['{', 'bundle-unreadable'],
  ];
  for (const [text, code] of forgeries) {
    writeFileSync(file, text);
    assert.deepEqual([answerOf(await verify(bundle)), answerOf(await unseal(bundle, join(root, 'out')))], [code, code]);
  }
  rmSync(file);
  assert.equal(answerOf(await verify(bundle)), 'bundle-unreadable');
});

test('links, pipes, sockets and names that other systems read otherwise are not sealed', async () => {
  const plant: readonly (readonly [string, (path: string) => void])[] = [
    ['link', (path) => symlinkSync('/etc/passwd', path)],
    ['pipe', (path) => void execFileSync('mkfifo', [path])],
    ['back\\slash', (path) => writeFileSync(path, '')],
    ['line\nend', (path) => writeFileSync(path, '')],
  ];
  for (const [name, make] of plant) {
    make(join(staging, name));
    assert.equal(answerOf(await sealing()), 'bundle-path-unsafe', name);
    rmSync(join(staging, name));
  }
  for (const name of ['Same', 'same']) writeFileSync(join(staging, name), '');
  assert.equal(answerOf(await sealing()), 'bundle-path-unsafe');
  assert.deepEqual(readdirSync(root), ['staging']);
});

test('what is there already is never replaced', async () => {
  valueOf(await sealing());
  assert.equal(answerOf(await sealing()), 'bundle-exists');
  mkdirSync(join(root, 'out'));
  assert.equal(answerOf(await unseal(bundle, join(root, 'out'))), 'bundle-destination-taken');
});

test('F27: an archive without its manifest is no bundle, and unfinished drafts are begun anew', async () => {
  writeFileSync(join(staging, 'a'), 'a');
  writeFileSync(`${bundle}.partial`, 'half');
  mkdirSync(join(root, 'out.partial'));
  writeFileSync(join(root, 'out.partial', 'half'), '');
  valueOf(await sealing());
  assert.deepEqual(contentOf(valueOf(await unseal(bundle, join(root, 'out'))).directory).length, 1);
  assert.ok(!existsSync(`${bundle}.partial`) && !existsSync(join(root, 'out.partial')));
  copyFileSync(bundle, join(root, 'alone'));
  assert.equal(answerOf(await verify(join(root, 'alone'))), 'bundle-unreadable');
});

test('F28: a staging directory that is gone is an answer, and leaves nothing', async () => {
  rmSync(staging, { recursive: true });
  assert.equal(answerOf(await sealing()), 'bundle-io-failed');
  assert.deepEqual(readdirSync(root), []);
});

test('F28: a full disk ends the sealing at once, wherever it is', async () => {
  fill();
  const full = await open('/dev/full', 'w');
  try {
    await assert.rejects(packInto(full, staging), /ENOSPC/);
  } finally {
    await full.close();
  }
});

test('F28: a disk that refuses what is unsealed is no corruption, and no policy accepts it', async () => {
  fill();
  const manifest = valueOf(await sealing());
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { syscall: 'write' });
  const sink = { directory: async () => {}, file: () => Promise.reject(full) };
  await assert.rejects(unpack(bundle, manifest, sink), full);
  rmSync(bundle);
  assert.equal(answerOf(await verify(bundle)), 'bundle-io-failed');
});

/** One tar header, written by hand as a hostile archive would. */
function header(name: string, type: string, size = 0, linkname = ''): Buffer {
  const block = Buffer.alloc(512);
  block.write(name, 0);
  block.write('0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${size.toString(8).padStart(11, '0')} `, 124);
  block.write('00000000000 ', 136);
  block.write('        ', 148);
  block.write(type, 156);
  block.write(linkname, 157);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

const hostile: readonly (readonly [string, readonly Buffer[]])[] = [
  ['a path upwards', [header('../out-of-here', '0')]],
  ['a path from the root', [header('/tmp/out-of-here', '0')]],
  ['a path up again', [header('a', '5'), header('a/../../b', '0')]],
  ['a symbolic link', [header('a', '2', 0, '/etc')]],
  ['a path through a link', [header('a', '2', 0, '/tmp'), header('a/b', '0')]],
  ['a hard link', [header('a', '1', 0, '/etc/passwd')]],
  ['a device', [header('a', '3')]],
  ['a pipe', [header('a', '6')]],
  ['a file twice', [header('a', '0'), header('a', '0')]],
  ['a file beneath a file', [header('a', '0'), header('a/b', '0')]],
  ['a file without its directory', [header('a/b', '0')]],
  ['names that differ in case', [header('A', '0'), header('a', '0')]],
  ['a directory that comes back', [header('a', '5'), header('b', '0'), header('a/c', '0')]],
];

for (const [what, blocks] of hostile) {
  test(`no policy lets out of an archive: ${what}`, async () => {
    const { digest: _, ...body } = valueOf(await sealing());
    const bytes = zstdCompressSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
    writeFileSync(bundle, bytes);
    const archive = { ...body.archive, bytes: bytes.length, digest: digestBytes(bytes), entries: 9, contentBytes: 9 };
    writeFileSync(manifestPath(bundle), manifestText(sealedManifest({ ...body, archive })));
    const answer = await unseal(bundle, join(root, 'out'), { acceptCorrupt: true, acceptIncomplete: true });
    assert.equal(answerOf(answer), 'bundle-path-unsafe');
    assert.equal(answerOf(await verify(bundle)), 'bundle-path-unsafe');
    assert.ok(!existsSync(join(root, 'out')) && !existsSync(join(root, 'out.partial')));
  });
}

test('an archive that holds more than its manifest says is given up before it fills the disk', async () => {
  writeFileSync(join(staging, 'zeros'), Buffer.alloc(50_000_000));
  const { digest: _, ...body } = valueOf(await sealing());
  writeFileSync(
    manifestPath(bundle),
    manifestText(sealedManifest({ ...body, archive: { ...body.archive, contentBytes: 10 } })),
  );
  const report = valueOf(await verify(bundle));
  assert.match(report.problems.join(), /more than its manifest says/);
});

test('a large file goes through in bounded memory', async () => {
  writeFileSync(join(staging, 'sparse'), '');
  truncateSync(join(staging, 'sparse'), 400_000_000);
  const program = fileURLToPath(new URL('./testing/round-trip.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', program, staging, bundle]);
  const { usable, grownBytes } = JSON.parse(stdout) as { readonly usable: boolean; readonly grownBytes: number };
  assert.ok(usable);
  assert.ok(grownBytes < 150_000_000, `the peak grew by ${grownBytes} bytes`);
});
