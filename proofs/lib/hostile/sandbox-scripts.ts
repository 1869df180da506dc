import { access, readFile } from 'node:fs/promises';
import { TOKEN, type Trial, type Yard } from './yard.ts';

/** One way out of a sandbox, in Python. */
export interface Escape {
  readonly name: string;
  /** Prints `ESCAPED` when it got through; what it changes outside is looked for by `reached`. */
  readonly script: (yard: Yard) => string;
  /** Only root can do it without the sandbox, so only then is its control one. */
  readonly asRoot?: true;
  readonly reached?: (trial: Trial, yard: Yard) => Promise<boolean>;
}

const quoted = (text: string): string => JSON.stringify(text);
const reads = (path: (yard: Yard) => string) => (yard: Yard) => `print(open(${quoted(path(yard))}).read())`;
const saysToken = async ({ lines }: Trial): Promise<boolean> => lines.some((line) => line.includes(TOKEN));

/** Numbers of system calls of x86-64 and, from the second word on, of arm64. */
const NUMBERS: Readonly<Record<string, readonly [number, number]>> = {
  ptrace: [101, 117],
  mount: [165, 40],
  unshare: [272, 97],
  addKey: [248, 217],
  keyctl: [250, 219],
  nameToHandle: [303, 264],
  openByHandle: [304, 265],
};
const call = (name: string): number => NUMBERS[name]?.[process.arch === 'arm64' ? 1 : 0] ?? -1;

/** Reading what is not the step's. */
const READING: readonly Escape[] = [
  { name: "reads the authority's key", script: reads(({ key }) => key), reached: saysToken },
  { name: "reads another target's stage", script: reads(({ otherStage }) => otherStage), reached: saysToken },
  { name: "reads another target's sealed release", script: reads(({ release }) => release), reached: saysToken },
  {
    name: 'reads the key through a link in its tree',
    script: ({ key }) => `os.symlink(${quoted(key)}, "link"); print(open("link").read())`,
    reached: saysToken,
  },
  {
    name: 'reads the key through the root of another process',
    script: ({ key, victim }) => `
for pid in (1, ${victim}):
    try: print(open(f"/proc/{pid}/root" + ${quoted(key)}).read())
    except OSError as error: print(error.strerror)`,
    reached: saysToken,
    asRoot: true,
  },
  {
    name: 'reads the key by climbing out of its tree',
    script: ({ key }) => `print(open("../../../../state/keys/" + os.path.basename(${quoted(key)})).read())`,
    reached: saysToken,
  },
  {
    name: 'reads the key by a file handle',
    script: ({ key }) => `
handle, mount = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136), ctypes.c_int()
name = ctypes.c_char_p(${quoted(key)}.encode())
call(${call('nameToHandle')}, -100, name, ctypes.byref(handle), ctypes.byref(mount), 0)
top = os.open(os.path.dirname(${quoted(key)}), os.O_RDONLY)
print(os.read(call(${call('openByHandle')}, top, ctypes.byref(handle), os.O_RDONLY), 100).decode())`,
    reached: saysToken,
    asRoot: true,
  },
  {
    name: "reads the machine's password file",
    script: () => 'open("/etc/shadow").read(); print("ESCAPED")',
    asRoot: true,
  },
  {
    name: "reads the names of the machine's users",
    script: () => 'print("ESCAPED" if "daemon:" in open("/etc/passwd").read() else "")',
  },
  {
    name: "reads the machine's control groups",
    script: () => 'os.listdir("/sys/fs/cgroup"); print("ESCAPED")',
  },
];

/** Writing where nothing may be left. */
const WRITING: readonly Escape[] = [
  {
    name: 'writes outside of its tree',
    script: ({ outside }) => `open(${quoted(outside)} + "/left", "w")`,
    reached: async (_, { outside }) => exists(`${outside}/left`),
  },
  {
    name: 'writes outside through a link in its tree',
    script: ({ outside }) => `os.symlink(${quoted(outside)}, "way"); open("way/linked", "w")`,
    reached: async (_, { outside }) => exists(`${outside}/linked`),
  },
  {
    name: 'writes into a pinned input',
    script: () => `
path = os.environ["IDUNN_INPUTS"] + "/pinned"
os.chmod(path, 0o644); open(path, "w").write("other")`,
    reached: async ({ paths }) => (await text(`${paths.inputs}/pinned`)) !== 'pinned',
  },
  {
    name: 'puts another file in the place of a pinned input',
    script: () => `
path = os.environ["IDUNN_INPUTS"] + "/pinned"
open("mine", "w").write("other"); os.rename("mine", path)`,
    reached: async ({ paths }) => (await text(`${paths.inputs}/pinned`)) !== 'pinned',
  },
  {
    name: 'changes a pinned input through a hard link',
    script: () => `
os.link(os.environ["IDUNN_INPUTS"] + "/pinned", "hard")
os.chmod("hard", 0o644); open("hard", "w").write("other")`,
    reached: async ({ paths }) => (await text(`${paths.inputs}/pinned`)) !== 'pinned',
  },
  {
    name: 'changes a sealed release through a hard link',
    script: ({ release }) => `os.link(${quoted(release)}, "hard"); open("hard", "a").write("x")`,
    reached: async (_, { release }) => (await text(release)) !== TOKEN,
  },
  {
    name: 'takes its altered tree for the exact one',
    script: () => 'open("../exact", "w")',
    reached: async ({ paths }) => exists(`${paths.root}/exact`),
  },
  {
    name: 'rewrites its own log',
    // It waits until its own word is kept: what is kept after a forgery would hide it.
    script: () => `
print("the truth", flush=True)
while "the truth" not in open("../logs/hostile.log").read(): time.sleep(0.005)
open("../logs/hostile.log", "w").write("all is well")`,
    reached: async ({ paths }) => (await text(`${paths.logs}/hostile.log`)).includes('all is well'),
  },
  {
    name: "writes the kernel's settings",
    script: () => `
path = "/proc/sys/kernel/core_pattern"
now = open(path).read(); open(path, "w").write(now); print("ESCAPED")`,
    asRoot: true,
  },
  {
    name: "changes the mode of the machine's null device",
    script: () => 'os.chmod("/dev/null", 0o666); print("ESCAPED")',
    asRoot: true,
  },
  {
    name: "changes the system's programs",
    script: () => `
path = "/usr/lib/idunn-proof-" + str(os.getpid())
open(path, "w"); os.unlink(path); print("ESCAPED")`,
    asRoot: true,
  },
];

/** Reaching a network or a socket. */
const REACHING: readonly Escape[] = [
  {
    name: "connects to a service on the machine's loopback",
    script: ({ port }) => `print(socket.create_connection(("127.0.0.1", ${port}), 5).recv(100).decode())`,
    reached: saysToken,
  },
  {
    name: 'connects to an abstract socket',
    script: ({ abstract }) => connectTo(quoted(`\0${abstract}`).replace('\\u0000', '\\0')),
    reached: saysToken,
  },
  { name: "connects to the authority's socket", script: ({ socket }) => connectTo(quoted(socket)), reached: saysToken },
  {
    name: 'asks a resolver',
    script: ({ resolver }) => `
name = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); name.settimeout(3)
name.connect(("127.0.0.1", ${resolver})); name.send(b"x"); print(name.recv(100).decode())`,
    reached: saysToken,
  },
];

function connectTo(address: string): string {
  return `
s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(${address}); print(s.recv(100).decode())`;
}

/** Other processes, and what a process may be. */
const PROCESSES: readonly Escape[] = [
  {
    name: "sees the machine's processes",
    script: ({ victim }) =>
      `print("ESCAPED" if b"time.sleep(3600)" in open("/proc/${victim}/cmdline", "rb").read() else "")`,
  },
  {
    name: "reads another process's environment",
    script: () => `
for pid in filter(str.isdigit, os.listdir("/proc")):
    try: print(*[w for w in open(f"/proc/{pid}/environ").read().split("\\0") if w.startswith("VICTIM=")])
    except OSError: pass`,
    reached: saysToken,
  },
  {
    name: 'signals another process',
    script: ({ victim }) => `os.kill(${victim}, 0); print("ESCAPED")`,
  },
  {
    name: 'traces another process',
    script: ({ victim }) => `
call(${call('ptrace')}, 16, ${victim}, 0, 0)
os.waitpid(${victim}, 0x40000000); call(${call('ptrace')}, 17, ${victim}, 0, 0); print("ESCAPED")`,
  },
  {
    name: 'has capabilities',
    script: () =>
      'print("ESCAPED" if int(open("/proc/self/status").read().split("CapEff:")[1].split()[0], 16) else "")',
    asRoot: true,
  },
  {
    name: 'becomes root in a user namespace of its own',
    script: () => `call(${call('unshare')}, 0x10000000); print("ESCAPED")`,
  },
  {
    name: 'mounts a file system',
    script: () => `
call(${call('unshare')}, 0x00020000)
call(${call('mount')}, ctypes.c_char_p(b"none"), ctypes.c_char_p(os.getcwd().encode()), ctypes.c_char_p(b"tmpfs"), 0, 0)
print("ESCAPED")`,
    asRoot: true,
  },
  {
    name: "attaches to the machine's shared memory",
    script: ({ sharedKey }) => `
block = libc.shmget(${sharedKey}, 0, 0)
if block < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
print("ESCAPED")`,
  },
  {
    name: 'makes a device',
    script: () => 'os.mknod("zero", 0o20666, os.makedev(1, 5)); open("zero", "rb").read(1); print("ESCAPED")',
    asRoot: true,
  },
  {
    name: "opens the machine's memory or log device",
    script: () => 'open("/dev/kmsg", "rb"); print("ESCAPED")',
    asRoot: true,
  },
  {
    name: 'types into its terminal',
    script: () => `
import fcntl, pty
pid, terminal = pty.fork()
if pid == 0:
    try: fcntl.ioctl(0, 0x5412, b"x"); os.write(1, b"ESC" + b"APED")
    except OSError as error: os.write(1, error.strerror.encode())
    os._exit(0)
said = b""
try:
    while True: said += os.read(terminal, 100)
except OSError: pass
print(said.decode())`,
    asRoot: true,
  },
  {
    name: 'leaves a key in a keyring of the kernel',
    script: () => `
key = call(${call('addKey')}, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"idunn-proof"), ctypes.c_char_p(b"x"), 1, -4)
call(${call('keyctl')}, 9, key, -4, 0, 0); print("ESCAPED")`,
  },
];

export const ESCAPES: readonly Escape[] = [...READING, ...WRITING, ...REACHING, ...PROCESSES];

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

const text = (path: string): Promise<string> => readFile(path, 'utf8');
