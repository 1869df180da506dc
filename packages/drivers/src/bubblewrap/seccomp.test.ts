import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seccompFilter } from './seccomp.ts';

/** Runs the filter as the kernel would, over one call. */
function judge(filter: Buffer, architecture: number, call: number, argument = [0, 0]): number {
  const words = new Map([
    [0, call],
    [4, architecture],
    [16, argument[0] ?? 0],
    [24, argument[1] ?? 0],
  ]);
  let loaded = 0;
  for (let at = 0; ; at++) {
    const [code, yes, no] = [filter.readUInt16LE(at * 8), filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3)];
    const operand = filter.readUInt32LE(at * 8 + 4);
    switch (code) {
      case 0x20:
        loaded = words.get(operand) ?? assert.fail(`nothing is at ${operand}`);
        break;
      case 0x15:
        at += loaded === operand ? yes : no;
        break;
      case 0x35:
        at += loaded >= operand ? yes : no;
        break;
      case 0x45:
        at += (loaded & operand) !== 0 ? yes : no;
        break;
      case 0x06:
        return operand;
      default:
        assert.fail(`unknown instruction ${code}`);
    }
  }
}

const [ALLOW, KILL, EPERM, ENOSYS] = [0x7fff0000, 0x80000000, 0x00050001, 0x00050026];
const X64 = 0xc000003e;
const NEWUSER = 0x10000000;

test('what no build needs is refused, what every program needs passes, and foreign numbers never pass', () => {
  const filter = seccompFilter('x64');
  assert.ok(filter !== null);
  const cases: readonly [string, number, number[], number][] = [
    ['read', 0, [], ALLOW],
    ['execve', 59, [], ALLOW],
    ['mount', 165, [], EPERM],
    ['ptrace', 101, [], EPERM],
    ['keyctl', 250, [], EPERM],
    ['clone3', 435, [], ENOSYS],
    ['clone of a thread', 56, [0x3d0f00], ALLOW],
    ['clone into a user namespace', 56, [NEWUSER | 17], EPERM],
    ['unshare of file descriptors', 272, [0x400], ALLOW],
    ['unshare of a user namespace', 272, [NEWUSER], EPERM],
    ['unshare of time', 272, [0x80], EPERM],
    ['ioctl TCGETS', 16, [0, 0x5401], ALLOW],
    ['ioctl TIOCSTI', 16, [0, 0x5412], EPERM],
    ['x32 read', 0x40000000, [], ENOSYS],
  ];
  for (const [name, call, argument, verdict] of cases) assert.equal(judge(filter, X64, call, argument), verdict, name);
  assert.equal(judge(filter, 0x40000003, 0), KILL, 'a 32-bit call');
});

test('an architecture without a table has no filter, never a wrong one', () => {
  assert.equal(seccompFilter('riscv64'), null);
  const arm = seccompFilter('arm64');
  assert.ok(arm !== null);
  assert.equal(judge(arm, 0xc00000b7, 40), EPERM, 'mount');
  assert.equal(judge(arm, 0xc00000b7, 63), ALLOW, 'read');
});
