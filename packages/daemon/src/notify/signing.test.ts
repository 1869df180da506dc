import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Notice } from './notifier.ts';
import { checkSecrets } from './notifiers.ts';
import { readSigningKey, webhookHeaders } from './signing.ts';
import { wayOf } from './ways.ts';

const UID = process.geteuid?.() ?? 0;
const PAGE = new URL('../../../../docs/incidents.md', import.meta.url);
/** The example that the convention itself gives. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const AT_S = 1_614_265_330;

const notice: Notice = {
  schema: 'idunn.notice/v1',
  fleet: 'home',
  at: '2026-11-30T00:00:00.000Z',
  target: 'app',
  state: 'opened',
  incident: 'inc-1',
  code: 'restarted-too-often',
  detail: 'app was restarted 6 times within an hour – again',
  remedy: 'Read idunn logs.',
};

async function secretFile(t: TestContext, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'idunn-signing-'));
  t.after(() => rm(directory, { recursive: true }));
  const file = join(directory, 'secret');
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

/** A receiver that answers as it is told, and what arrived there. */
async function receiver(t: TestContext, status: () => number) {
  const arrived: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      arrived.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      response.writeHead(status()).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return { arrived, webhook: `http://127.0.0.1:${(server.address() as AddressInfo).port}/idunn` };
}

test('the signature is that of Standard Webhooks', async (t) => {
  const key = await readSigningKey(await secretFile(t, `${SECRET}\n`), UID);
  assert.ok(key.ok);
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampS: AT_S, body: '{"test": 2432232314}' };
  assert.deepEqual(webhookHeaders(message, key.value), {
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

/** Whether what arrived verifies by the function that the page gives, run by its own language. */
async function verifiesAsDocumented(language: 'js' | 'python', headers: unknown, body: string): Promise<boolean> {
  const page = await readFile(PAGE, 'utf8');
  const [, code = ''] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page) ?? [];
  assert.match(code, /verify\(/);
  const words = [JSON.stringify(headers), body, SECRET, `${AT_S}`];
  const [program, ...argv] =
    language === 'js'
      ? [
          process.execPath,
          '--input-type=module',
          '-e',
          `${code}\nconst [h, b, s, n] = process.argv.slice(1);\nconsole.log(verify(JSON.parse(h), b, s, Number(n)));`,
        ]
      : [
          'python3',
          '-c',
          `${code}\nimport json, sys\n_, h, b, s, n = sys.argv\nprint(verify(json.loads(h), b.encode(), s, int(n)))`,
        ];
  const { stdout } = await promisify(execFile)(program ?? '', [...argv, ...words]);
  return stdout.trim().toLowerCase() === 'true';
}

test('each attempt has the same id and verifies as the page shows, in Node and in Python', async (t) => {
  let status = 503;
  const { arrived, webhook } = await receiver(t, () => status);
  const secret_file = await secretFile(t, SECRET);
  const way = wayOf({ id: 'pager', webhook, secret_file }, { wallMs: () => AT_S * 1_000, uid: UID });
  await assert.rejects(way.deliver(notice, new AbortController().signal), /answered 503/);
  status = 204;
  await way.deliver(notice, new AbortController().signal);
  assert.deepEqual(
    arrived.map(({ headers }) => headers['webhook-id']),
    ['inc-1-opened', 'inc-1-opened'],
  );
  const { headers, body } = arrived[1] ?? assert.fail();
  assert.ok(!JSON.stringify(arrived).includes(SECRET.slice(6)), 'F30');
  for (const language of ['js', 'python'] as const) {
    assert.equal(await verifiesAsDocumented(language, headers, body), true, language);
    assert.equal(await verifiesAsDocumented(language, headers, body.replace('home', 'away')), false, language);
    const late = { ...headers, 'webhook-timestamp': `${AT_S - 301}` };
    assert.equal(await verifiesAsDocumented(language, late, body), false, language);
  }
});

/** A secret file, what it holds, and what it may not hold. */
const KINDS = [
  { field: 'secret_file', good: SECRET, wrong: ['whsec_c2hvcnQ=', SECRET.slice(6)], says: /does not hold whsec_/ },
  { field: 'token_file', good: 'sesame', wrong: ['', 'open sesame', 'ses\u00e4me'], says: /does not hold one word/ },
] as const;

for (const { field, good, wrong, says } of KINDS) {
  test(`a ${field} that cannot be used is refused at the start, and nothing is sent without it later`, async (t) => {
    const file = await secretFile(t, `${good}\n`);
    const { arrived, webhook } = await receiver(t, () => 204);
    const notifier = { id: 'pager', webhook, [field]: file };
    assert.ok((await checkSecrets([{ id: 'mail', command: ['/bin/true'] }, notifier], UID)).ok);
    const way = wayOf(notifier, { wallMs: () => AT_S * 1_000, uid: UID });
    const refusedWith = async (why: RegExp): Promise<void> => {
      const checked = await checkSecrets([notifier], UID);
      assert.ok(!checked.ok);
      assert.equal(checked.refusal.code, 'notifier-secret-unusable');
      assert.match(checked.refusal.reason, why);
      assert.ok(checked.refusal.reason.includes(file) && !checked.refusal.reason.includes(good.slice(-6)), 'F30');
      await assert.rejects(way.deliver(notice, new AbortController().signal), why);
    };
    await chmod(file, 0o640);
    await refusedWith(/can be read by others: its mode is 0640/);
    await chmod(file, 0o600);
    for (const text of wrong) {
      await writeFile(file, text);
      await refusedWith(says);
    }
    await writeFile(file, 'x'.repeat(5_000));
    await refusedWith(/has more than \d+ bytes/);
    await rm(file);
    await refusedWith(/cannot be read: ENOENT/);
    await mkdir(file);
    await refusedWith(/is no regular file/);
    await rmdir(file);
    await writeFile(`${file}.there`, good, { mode: 0o600 });
    await symlink(`${file}.there`, file);
    await refusedWith(/cannot be read: ELOOP/);
    assert.deepEqual(arrived, []);
    if (UID !== 0) return;
    await rm(file);
    await writeFile(file, good, { mode: 0o600 });
    await chown(file, 1, 1);
    await refusedWith(/belongs to uid 1/);
  });
}
