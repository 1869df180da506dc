import { endianness } from 'node:os';

/** Numbers of system calls; `null` where the architecture never had the call. */
interface Calls {
  /** AUDIT_ARCH of the kernel's `seccomp_data`. */
  readonly audit: number;
  readonly clone: number;
  readonly clone3: number;
  readonly unshare: number;
  readonly ioctl: number;
  readonly refused: readonly number[];
}

/**
 * What no build needs and what has opened kernels before: new mounts and namespaces, keyrings, other processes'
 * memory, programs for the kernel, modules, clocks, quotas, swap, reboot, raw handles of files.
 */
const REFUSED = {
  x64: [
    101, // ptrace
    310, // process_vm_readv
    311, // process_vm_writev
    165, // mount
    166, // umount2
    155, // pivot_root
    161, // chroot
    308, // setns
    428, // open_tree
    429, // move_mount
    430, // fsopen
    431, // fsconfig
    432, // fsmount
    433, // fspick
    442, // mount_setattr
    248, // add_key
    249, // request_key
    250, // keyctl
    321, // bpf
    298, // perf_event_open
    323, // userfaultfd
    425, // io_uring_setup
    426, // io_uring_enter
    427, // io_uring_register
    304, // open_by_handle_at
    175, // init_module
    313, // finit_module
    176, // delete_module
    246, // kexec_load
    320, // kexec_file_load
    169, // reboot
    167, // swapon
    168, // swapoff
    163, // acct
    164, // settimeofday
    227, // clock_settime
    159, // adjtimex
    305, // clock_adjtime
    179, // quotactl
    443, // quotactl_fd
    103, // syslog
    172, // iopl
    173, // ioperm
    256, // migrate_pages
    279, // move_pages
    312, // kcmp
    438, // pidfd_getfd
  ],
  arm64: [
    117, 270, 271, 40, 39, 41, 51, 268, 428, 429, 430, 431, 432, 433, 442, 217, 218, 219, 280, 241, 282, 425, 426, 427,
    265, 105, 273, 106, 104, 294, 142, 224, 225, 89, 170, 112, 171, 266, 60, 443, 116, 238, 239, 272, 438,
  ],
};

const MACHINES: Readonly<Record<string, Calls>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    clone3: 435,
    unshare: 272,
    ioctl: 16,
    refused: REFUSED.x64,
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    clone3: 435,
    unshare: 97,
    ioctl: 29,
    refused: REFUSED.arm64,
  },
};

/** CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET; and NEWTIME, which only `unshare` and `clone3` read. */
const NAMESPACES = 0x7e020000;
const NAMESPACES_AND_TIME = 0x7e020080;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** The 32-bit calls of x86-64 machines share its AUDIT_ARCH and carry this bit. */
const X32_BIT = 0x40000000;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const errno = (number: number): number => 0x00050000 | number;
const EPERM = 1;
const ENOSYS = 38;

/** Offsets in `seccomp_data`; arguments are 64 bits wide, and the lower half is what these calls read. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const answer = (action: number): Instruction => [0x06, 0, 0, action];
/** Runs the next instruction when equal (or when any bit is set), else skips `skip` of them. */
const ifEqual = (value: number, skip: number): Instruction => [0x15, 0, skip, value];
const ifAny = (bits: number, skip: number): Instruction => [0x45, 0, skip, bits];

/**
 * The filter for the programs of a step, as the kernel reads it (`struct sock_filter[]`); `null` on an architecture
 * that has none here. A refused call answers EPERM, so that programs go on without it.
 */
export function seccompFilter(architecture: string): Buffer | null {
  const calls = Object.hasOwn(MACHINES, architecture) ? MACHINES[architecture] : undefined;
  if (calls === undefined || endianness() !== 'LE') return null;
  const whenArgument = (call: number, index: number, bits: number): Instruction[] => [
    ifEqual(call, 4),
    load(argument(index)),
    ifAny(bits, 1),
    answer(errno(EPERM)),
    load(NUMBER),
  ];
  const whenCommand = (command: number): Instruction[] => [
    ifEqual(calls.ioctl, 4),
    load(argument(1)),
    ifEqual(command, 1),
    answer(errno(EPERM)),
    load(NUMBER),
  ];
  const program: Instruction[] = [
    load(ARCHITECTURE),
    // Another architecture has other numbers: the 32-bit calls of an x86-64 kernel would pass unseen.
    [0x15, 1, 0, calls.audit],
    answer(KILL_PROCESS),
    load(NUMBER),
    ...(architecture === 'x64' ? [[0x35, 0, 1, X32_BIT] as const, answer(errno(ENOSYS))] : []),
    ...calls.refused.flatMap((call) => [ifEqual(call, 1), answer(errno(EPERM))]),
    // Its flags lie in memory, where no filter can look: without it a C library takes `clone`.
    ifEqual(calls.clone3, 1),
    answer(errno(ENOSYS)),
    ...whenArgument(calls.clone, 0, NAMESPACES),
    ...whenArgument(calls.unshare, 0, NAMESPACES_AND_TIME),
    ...whenCommand(TIOCSTI),
    ...whenCommand(TIOCLINUX),
    answer(ALLOW),
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  }
  return bytes;
}
