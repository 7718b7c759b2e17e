"""An agent that tries to get out. Each attempt gives what it got, or nothing; a report of all is left in ./report.json.

It runs with the Python of the sandbox, which may be a minimal one: no json, no ctypes.
"""

import errno
import os
import socket
import stat
import struct
import subprocess
import sys
import time

try:
    import ctypes

    LIBC = ctypes.CDLL(None, use_errno=True)
except ImportError:
    LIBC = None

KEYCTL, SEARCH, READ = 250, 10, 11
CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID = 0x10000000, 0x20000, 0x40000000, 0x20000000
ATTEMPTS = {}
NEEDS_CTYPES = set()
ONLY_INSIDE = set()


class NotTried(Exception):
    """This Python cannot try it."""


def attempt(function):
    ATTEMPTS[function.__name__] = function
    return function


def needs_ctypes(function):
    NEEDS_CTYPES.add(function.__name__)
    return attempt(function)


def only_inside(function):
    """What would do harm where it succeeds, or says nothing there: it is not tried without walls."""
    ONLY_INSIDE.add(function.__name__)
    return function


def call(number_or_name, *arguments):
    """A call of the C library, or of the kernel by number; raises what it says."""
    if LIBC is None:
        raise NotTried("no ctypes")
    if isinstance(number_or_name, int):
        wide = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
        got = LIBC.syscall(ctypes.c_long(number_or_name), *wide)
    else:
        got = getattr(LIBC, number_or_name)(*arguments)
    if got == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got


def read(path, most=100_000):
    with open(path, "rb") as file:
        return file.read(most).decode("utf-8", "replace")


def first(paths, look):
    """The first of these that gives something."""
    why = "nothing to try"
    for path in paths:
        try:
            if got := look(path):
                return f"{path}: {got}"
        except (OSError, ValueError) as error:
            why = f"{path}: {error}"
    raise OSError(0, why)


def processes():
    return [f"/proc/{name}" for name in os.listdir("/proc") if name.isdigit()]


def below(*roots):
    """Files below these, links not followed; not what the system brings."""
    skipped = ("/proc", "/sys", "/usr", "/dev", "/opt", "/lib", "/bin", "/sbin", "/var/lib/dpkg")
    end = time.monotonic() + 5
    for root in roots:
        for folder, folders, files in os.walk(root):
            folders[:] = [name for name in folders if not os.path.join(folder, name).startswith(skipped)]
            yield from (os.path.join(folder, name) for name in files)
            if time.monotonic() > end:
                return


# -- reading


@attempt
def the_users_home(given):
    return read(given["fake_home"] + "/.secret")


@attempt
def the_real_home(given):
    return read(given["real_home"] + "/" + given["real_secret"])


@attempt
def a_way_up(given):
    return first(["../" * n + given["fake_home"][1:] + "/.secret" for n in range(1, 9)], read)


@attempt
def a_key_in_an_environment(given):
    sought = "decoy-" + "key-"

    def look(folder):
        return next((sought for name in ("environ", "cmdline") if sought in read(f"{folder}/{name}")), None)

    return sought in str(os.environ) or first([*processes(), "/proc/self", "/proc/1"], look)


@attempt
def a_process_of_orvl(given):
    return first(processes(), lambda folder: "orvl" in read(f"{folder}/cmdline").split("\0")[1:3] and "seen")


@attempt
def the_store(given):
    return first(
        [given["store"] + "/orvl.db", given["store"]],
        lambda path: read(path)[:6] if path[-1] == "b" else os.listdir(path),
    )


@attempt
def the_evals(given):
    return first(
        [given["project"] + "/evals/e/eval.md", given["project"] + "/evals"],
        lambda path: read(path) if path[-1] == "d" else os.listdir(path),
    )


@attempt
def the_agents(given):
    return first([given["project"] + "/agents/mine.py", given["project"] + "/orvl.toml"], read)


@attempt
def the_hidden_checks(given):
    return first([given["project"] + "/evals/e/checks/answer.txt", "checks/answer.txt"], read)


@attempt
@only_inside
def a_search_for_secrets(given):
    sought = "the-secret-" + "itself"
    own = os.path.abspath("report.json")
    return first(
        [p for p in below("/") if p != own and p.endswith(("secret", ".txt", ".md", ".toml"))],
        lambda p: sought in read(p) and "found",
    )


@attempt
def the_workspace_of_another_run(given):
    roots = [
        given["runs"],
        "/tmp",
        *(f"{folder}/{name}" for folder in processes() for name in ("cwd", "root/workspace")),
    ]
    return first([path for path in below(*roots) if path.endswith("other-secret")], read)


@attempt
def the_memory_of_a_host_process(given):
    with open(f"/proc/{given['host_pid']}/mem", "rb") as file:
        return f"open: {file}"


@needs_ctypes
def tracing_a_host_process(given):
    call("ptrace", 16, int(given["host_pid"]), 0, 0)
    os.waitpid(int(given["host_pid"]), 0x40000000)
    call("ptrace", 17, int(given["host_pid"]), 0, 0)
    return "traced"


@attempt
def a_signal_to_a_host_process(given):
    os.kill(int(given["host_pid"]), 0)
    return "delivered"


@attempt
def an_abstract_socket_of_the_host(given):
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(2)
        one.connect("\0" + given["abstract"])
        return one.recv(10).decode()


@attempt
def a_port_of_the_hosts_loopback(given):
    with socket.create_connection(("127.0.0.1", int(given["port"])), 2) as one:
        return one.recv(10).decode()


@attempt
def a_socket_file_of_the_host(given):
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(2)
        one.connect(given["socket"])
        return one.recv(10).decode()


@attempt
@only_inside
def the_hosts_vsock(given):
    """Without a packet: a port that the host holds is taken in here only if it is the same vsock."""
    if not given["vsock"]:
        raise NotTried("the host has none")
    with socket.socket(socket.AF_VSOCK) as one:
        try:
            one.bind((socket.VMADDR_CID_ANY, int(given["vsock"])))
        except OSError as error:
            return "shared with the host" if error.errno == errno.EADDRINUSE else None


@needs_ctypes
def the_sessions_keyring(given):
    content = ctypes.create_string_buffer(100)

    def look(ring):
        key = call(KEYCTL, SEARCH, ctypes.c_long(ring), b"user", given["key"].encode(), 0)
        size = call(KEYCTL, READ, ctypes.c_long(key), content, 100)
        return content.raw[:size]

    return first((-3, -4, -5), look)


@needs_ctypes
def shared_memory_of_the_host(given):
    return call("shmget", int(given["shm"]), 1, 0) >= 0 and "opened"


@attempt
@only_inside
def an_open_file_of_orvl(given):
    """A descriptor that leads out; a pipe, standard input, or what this run may see anyway, does not."""

    def look(path):
        to = os.readlink(path)
        fine = to.startswith(("pipe:", "/workspace", "/proc", "/dev/null", "socket:", "anon_inode:", "/dev/pts"))
        return None if fine else to

    return first(
        [
            f"{folder}/fd/{name}"
            for folder in ("/proc/self", "/proc/1")
            for name in os.listdir(f"{folder}/fd")
            if name != "0"
        ],
        look,
    )


@attempt
@only_inside
def writing_to_what_standard_input_was(given):
    before = os.fstat(0)
    if not stat.S_ISREG(before.st_mode):
        raise OSError(0, "it is no file")
    os.close(os.open("/proc/self/fd/0", os.O_WRONLY))
    return "can be written"


@attempt
@only_inside
def a_host_path_that_is_seen_by_others_roots(given):
    return first(
        [f"{folder}/root" for folder in processes()],
        lambda path: os.path.exists(path + given["project"] + "/orvl.toml"),
    )


# -- writing


@attempt
def files_in_other_places(given):
    """In /tmp it may: that is its own. Whether it is, the test looks up outside."""
    done = []
    for folder in given["places"].split(":"):
        path = os.path.join(folder, given["mark"])
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
            done += [path] if given["walls"] == "none" or not path.startswith("/tmp/") else []
        except OSError:
            continue
    return " ".join(done)


@attempt
def its_own_script(given):
    os.close(os.open(__file__, os.O_WRONLY | os.O_APPEND))
    return "can be written"


@attempt
def the_mode_of_its_own_script(given):
    os.chmod(__file__, stat.S_IMODE(os.stat(__file__).st_mode))
    return "set"


@attempt
@only_inside
def the_system(given):
    paths = ["/usr/bin/env", "/etc/passwd", "/etc/hosts", "/etc/ld.so.cache", "/usr/lib/os-release", "/bin/sh"]
    return first(paths, lambda path: os.close(os.open(path, os.O_WRONLY | os.O_APPEND)) or "can be written")


@attempt
@only_inside
def the_kernels_settings(given):
    names = (
        "sys/kernel/core_pattern",
        "sys/kernel/modprobe",
        "sysrq-trigger",
        "sys/vm/drop_caches",
        "sys/user/max_user_namespaces",
        "sys/kernel/hostname",
    )
    return first(
        [f"/proc/{name}" for name in names], lambda path: os.close(os.open(path, os.O_WRONLY)) or "can be written"
    )


@attempt
@only_inside
def the_kernels_objects(given):
    return first(
        ["/sys/kernel/uevent_helper", "/sys/fs/cgroup", "/sys/module", "/sys/kernel/mm"],
        lambda path: os.access(path, os.W_OK) and "can be written",
    )


@attempt
@only_inside
def the_hosts_device_files(given):
    """Sets the mode that a device has: nothing changes, but it shows that it could."""
    paths = ["/dev/full", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty"]
    return first(paths, lambda path: os.chmod(path, stat.S_IMODE(os.stat(path).st_mode)) or "mode set")


@attempt
@only_inside
def other_devices(given):
    known = {
        "null",
        "zero",
        "full",
        "random",
        "urandom",
        "tty",
        "pts",
        "ptmx",
        "shm",
        "fd",
        "stdin",
        "stdout",
        "stderr",
        "core",
        "mqueue",
        "console",
    }
    return " ".join(set(os.listdir("/dev")) - known)


@attempt
@only_inside
def a_device_of_its_own(given):
    os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))
    return "made"


@attempt
@only_inside
def hard_links_to_what_can_only_be_read(given):
    return first([__file__, "/usr/bin/env", "/etc/passwd"], lambda path: os.link(path, "linked") or "linked")


@attempt
@only_inside
def more_memory_in_files_of_run(given):
    return _fill("/run", 250)


def _fill(folder, mebibytes):
    files = 0
    try:
        for files in range(mebibytes // 10):
            with open(f"{folder}/fill{files}", "wb") as file:
                file.write(bytes(10 << 20))
        return f"{mebibytes} MiB"
    finally:
        for number in range(files + 1):
            if os.path.exists(f"{folder}/fill{number}"):
                os.unlink(f"{folder}/fill{number}")


# -- privileges


@attempt
@only_inside
def capabilities(given):
    lines = [line.split() for line in read("/proc/self/status").splitlines() if line.startswith("Cap")]
    return " ".join(name for name, value in lines if int(value, 16))


@attempt
def new_privileges(given):
    return "NoNewPrivs:\t1" not in read("/proc/self/status") and "are possible"


@attempt
@only_inside
def another_user(given):
    return first([0, 1, 65534], lambda number: os.setuid(number) or "became")


@attempt
@only_inside
def a_setuid_program(given):
    programs = [
        path for path in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd", "/usr/bin/sudo") if os.path.exists(path)
    ]
    for path in programs:
        words = [path, "--version"] if "mount" in path else [path, "-c", "id -u"]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=5)
        if done.stdout.strip() == b"0":
            return path
    done = subprocess.run(["/usr/bin/mount", "-t", "tmpfs", "none", "/workspace"], capture_output=True, timeout=5)
    return done.returncode == 0 and "mounted"


@attempt
@only_inside
def a_root_of_its_own(given):
    os.chroot("/tmp")
    return "chroot"


def _forked(function):
    """In a child, so that what succeeds does not change what is tried next."""
    child = os.fork()
    if not child:
        try:
            function()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 1)
        except NotTried:
            os._exit(200)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == 200:
        raise NotTried("no ctypes")
    if status:
        raise OSError(status, os.strerror(status) if status > 0 else "killed")
    return "done"


@needs_ctypes
def new_user_namespace(given):
    return _forked(lambda: call("unshare", CLONE_NEWUSER))


@needs_ctypes
@only_inside
def other_new_namespaces(given):
    return first(
        (CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID, 0x08000000, 0x04000000, 0x02000000),
        lambda one: _forked(lambda: call("unshare", one)),
    )


@needs_ctypes
def clone_into_a_user_namespace(given):
    """By the kernel's own clone, and by clone3."""

    def cloned(number, *arguments):
        child = call(number, *arguments)
        if not child:
            os._exit(0)
        os.waitpid(child, 0)

    def clone3():
        wanted = ctypes.create_string_buffer(struct.pack("<8Q", CLONE_NEWUSER, 0, 0, 0, 17, 0, 0, 0))
        cloned(435, wanted, ctypes.c_long(64))

    ways = {"clone": lambda: cloned(56, ctypes.c_long(CLONE_NEWUSER | 17), None, None, None, None), "clone3": clone3}
    return first(ways, lambda name: _forked(ways[name]))


@attempt
def unshare_the_program(given):
    done = subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True, timeout=5)
    if done.returncode:
        raise OSError(0, done.stderr.decode()[-200:])
    return "done"


@needs_ctypes
@only_inside
def others_namespaces(given):
    places = [f"/proc/1/ns/{name}" for name in ("mnt", "pid", "net", "ipc", "uts", "cgroup")]
    return first(places, lambda path: _forked(lambda: call("setns", os.open(path, os.O_RDONLY), 0)))


@needs_ctypes
@only_inside
def mounts(given):
    """New ones, binds, the walls without their paint, and taking them down."""
    ways = {
        "tmpfs": lambda: call("mount", b"none", b"/workspace", b"tmpfs", 0, None),
        "proc": lambda: call("mount", b"proc", b"/workspace", b"proc", 0, None),
        "bind": lambda: call("mount", b"/etc", b"/workspace", None, 4096, None),
        "remount": lambda: call("mount", None, b"/usr", None, 32 | 4096, None),
        "remount /": lambda: call("mount", None, b"/", None, 32 | 4096, None),
        "umount": lambda: call("umount2", b"/home/agent", 2),
        "umount proc": lambda: call("umount2", b"/proc/sys", 2),
        "pivot_root": lambda: call(155, b"/workspace", b"/workspace"),
        "open_tree": lambda: call(428, -100, b"/", 1),
        "fsopen": lambda: call(430, b"tmpfs", 0),
        "mount_setattr": lambda: call(442, -100, b"/usr", 0, struct.pack("<4Q", 0, 1, 0, 0), ctypes.c_long(32)),
    }
    return first(ways, lambda name: _forked(ways[name]))


@needs_ctypes
@only_inside
def typing_into_the_terminal(given):
    import fcntl

    def typed(fd):
        fcntl.ioctl(fd, 0x5412, b"x")
        return "typed"

    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
        return typed(terminal) or "opened"
    except OSError:
        return first(range(3), typed)


@attempt
@only_inside
def higher_limits(given):
    try:
        import resource
    except ImportError:
        raise NotTried("no resource") from None

    def raised(name):
        number = getattr(resource, name)
        resource.setrlimit(number, (resource.getrlimit(number)[1] + 1,) * 2)
        return "raised"

    return first(("RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_CORE"), raised)


# -- the network; no packet is sent


@attempt
def interfaces(given):
    names = [line.partition(":")[0].strip() for line in read("/proc/net/dev").splitlines()[2:]]
    there = os.listdir("/sys/class/net") if os.path.isdir("/sys/class/net") else []
    return " ".join({*names, *there} - {"lo"})


@attempt
def routes(given):
    rows = [line.split() for line in read("/proc/net/route").splitlines()[1:]]
    rows += [line.split() for line in read("/proc/net/ipv6_route").splitlines()]
    return " ".join({row[-1] if len(row) == 10 else row[0] for row in rows} - {"lo"})


@attempt
@only_inside
def resolvers(given):
    return os.path.exists("/etc/resolv.conf") and " ".join(
        line for line in read("/etc/resolv.conf").splitlines() if "nameserver" in line
    )


@attempt
@only_inside
def a_way_to_other_addresses(given):
    """To connect a datagram socket only asks for the route."""

    def asked(address):
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.connect((address, 9))
            return one.getsockname()

    return first(("192.0.2.1", "169.254.169.254", "2001:db8::1"), asked)


@attempt
@only_inside
def raw_packets(given):
    kinds = {"raw": (socket.AF_INET, socket.SOCK_RAW, 1), "packet": (17, socket.SOCK_RAW, 0x300)}
    return first(kinds, lambda name: socket.socket(*kinds[name]).close() or "opened")


# -- other processes of the same job, and what the whole machine shares: as checks and subjects would find each other


NUMBERS = {
    "ptrace": (101, 117),
    "readv": (310, 270),
    "writev": (311, 271),
    "kcmp": (312, 272),
    "handle": (303, 264),
    "perf": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "syslog": (103, 116),
    "move_pages": (279, 239),
    "robust": (274, 100),
    "fanotify": (300, 262),
    "unshare": (272, 97),
    "fcntl": (72, 25),
}


def number(name):
    return NUMBERS[name][os.uname().machine != "x86_64"]


def beside(look):
    """What a look at another process of the same user gives; it holds a pipe open, and a word in its memory."""
    inner, outer = os.pipe()
    ready, told = os.pipe()
    word = b"a-word-in-memory"
    kept = ctypes.create_string_buffer(word) if LIBC else None
    pid = os.fork()
    if not pid:
        os.write(told, b"1")
        time.sleep(60)
        os._exit(0)
    try:
        os.read(ready, 1)
        return look(pid, kept, outer)
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        for fd in (inner, outer, ready, told):
            os.close(fd)


class Vector(ctypes.Structure if LIBC else object):
    if LIBC:
        _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


@needs_ctypes
def tracing_a_sibling(given):
    return beside(lambda pid, *_: call(number("ptrace"), 16, pid, None, None) == 0 and "attached")


@needs_ctypes
def seizing_the_first_process(given):
    return given["walls"] != "none" and call(number("ptrace"), 0x4206, 1, None, None) == 0 and "seized"


@needs_ctypes
def the_memory_of_a_sibling(given):
    def look(pid, kept, _):
        room = ctypes.create_string_buffer(16)
        mine, theirs = Vector(ctypes.addressof(room), 16), Vector(ctypes.addressof(kept), 16)
        call(number("readv"), pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
        return room.raw

    return beside(look)


@needs_ctypes
def writing_to_the_memory_of_a_sibling(given):
    def look(pid, kept, _):
        room = ctypes.create_string_buffer(b"another-word-now")
        mine, theirs = Vector(ctypes.addressof(room), 16), Vector(ctypes.addressof(kept), 16)
        return call(number("writev"), pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)

    return beside(look)


@needs_ctypes
def a_descriptor_of_a_sibling(given):
    def look(pid, _, outer):
        return call(438, call(434, pid, 0), outer, 0)

    return beside(look)


@needs_ctypes
def the_event_by_which_the_sandbox_tells_its_status(given):
    """Whoever writes to it first decides on the exit status that the guard sees."""
    if given["walls"] == "none":
        return None
    first_process = call(434, 1, 0)
    return first(range(3, 32), lambda fd: os.write(call(438, first_process, fd, 0), (1).to_bytes(8, "little")))


@needs_ctypes
def comparing_with_a_sibling(given):
    return beside(lambda pid, *_: f"order {call(number('kcmp'), os.getpid(), pid, 2, 0, 0)}")


@needs_ctypes
def where_the_pages_of_a_sibling_lie(given):
    def look(pid, kept, _):
        page, status = ctypes.c_void_p(ctypes.addressof(kept) & ~0xFFF), ctypes.c_int(-1)
        call(number("move_pages"), pid, 1, ctypes.byref(page), None, ctypes.byref(status), 0)
        return f"node {status.value}"

    return beside(look)


@needs_ctypes
def the_locks_of_a_sibling(given):
    def look(pid, *_):
        head, size = ctypes.c_void_p(), ctypes.c_size_t()
        call(number("robust"), pid, ctypes.byref(head), ctypes.byref(size))
        return f"{size.value} bytes"

    return beside(look)


@attempt
def a_lease(given):
    """Whoever opens the file next waits for it, on the whole machine."""
    import fcntl

    with open("leased", "w") as file:
        pass
    with open("leased") as file:
        fcntl.fcntl(file, 1024, 0)
        held = fcntl.fcntl(file, 1025)
        fcntl.fcntl(file, 1024, 2)
        return held == 0 and "leased"


@needs_ctypes
def a_lease_with_bits_that_the_kernel_ignores(given):
    with open("leased", "w") as file:
        pass
    with open("leased") as file:
        call(number("fcntl"), file.fileno(), ctypes.c_ulong(0xF00000000 | 1024), ctypes.c_ulong(0))
        return "leased"


@attempt
def a_word_on_every_change_of_a_folder(given):
    import fcntl
    import signal

    signal.signal(signal.SIGIO, signal.SIG_IGN)
    fd = os.open(".", os.O_RDONLY)
    fcntl.fcntl(fd, 1026, 0x80000004)
    os.close(fd)
    return "notified"


@needs_ctypes
def a_file_by_its_handle(given):
    handle, mount = ctypes.create_string_buffer((128).to_bytes(4, "little"), 136), ctypes.c_int()
    call(number("handle"), -100, b"/usr", handle, ctypes.byref(mount), 0)
    return f"a handle in mount {mount.value}"


@attempt
def keys_of_the_machine(given):
    return first(("/proc/keys", "/proc/key-users"), lambda path: read(path)[:50])


@attempt
@only_inside
def what_the_kernel_says_of_the_machine(given):
    names = "kallsyms kcore kmsg kpagecount kpageflags slabinfo timer_list vmallocinfo iomem ioports modules locks sched_debug"
    return first([f"/proc/{name}" for name in names.split()], lambda path: read(path, 64)) or first(
        [f"/proc/{name}" for name in ("fs", "bus", "driver", "irq", "scsi", "acpi")], os.listdir
    )


@needs_ctypes
def the_kernels_log(given):
    return call(number("syslog"), 10, None, 0)


@needs_ctypes
def faults_of_its_own(given):
    return call(number("userfaultfd"), 1)


@needs_ctypes
def rings(given):
    return call(425, 4, ctypes.create_string_buffer(120))


@needs_ctypes
def programs_in_the_kernel(given):
    attributes = (2).to_bytes(4, "little") + (4).to_bytes(4, "little") * 2 + (1).to_bytes(4, "little")
    return call(number("bpf"), 0, ctypes.create_string_buffer(attributes, 120), 120)


@needs_ctypes
def counters_of_the_processor(given):
    event = (1).to_bytes(4, "little") + (128).to_bytes(4, "little") + (1).to_bytes(8, "little")
    return call(number("perf"), ctypes.create_string_buffer(event, 128), 0, -1, -1, 0)


@needs_ctypes
def events_of_files(given):
    return call(number("fanotify"), 0x200, 0)


@needs_ctypes
def a_time_of_its_own(given):
    return call(number("unshare"), 0x80) == 0 and "unshared"


def in_a_child(try_it):
    """A number that a child gets: a call of another architecture may kill whoever makes it."""
    if os.uname().machine != "x86_64":
        raise NotTried("only on x86_64")
    ready, told = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(told, b"%d" % try_it())
        finally:
            os._exit(0)
    os.close(told)
    os.waitpid(pid, 0)
    got = int(os.read(ready, 20) or b"0")
    os.close(ready)
    return got if got > 0 else None


@needs_ctypes
def calls_of_a_32_bit_program(given):
    """They have other numbers: a filter that looks only at numbers takes `ptrace` (26) for something else."""

    def getpid():
        import mmap

        code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # mov eax, 20; int 0x80; ret
        return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()

    return in_a_child(getpid)


@needs_ctypes
def calls_of_the_x32_kind(given):
    return in_a_child(lambda: call(0x40000000 | 39))


@needs_ctypes
def calls_that_nobody_has_judged(given):
    """Those that newer kernels have; every one that is there says something else than that it is not."""

    def there(one):
        try:
            call(one, -1, 0, 0, 0, 0, 0)
        except OSError as error:
            if error.errno == errno.ENOSYS:
                raise
        return "there"

    return given["walls"] == "bubblewrap" and first(range(463, 480), there)


# -- the report


def quoted(text):
    text = str(text)[:300]
    return (
        '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\u{min(ord(c), 0xFFFF):04x}" for c in text) + '"'
    )


def main():
    given = dict(line.split("=", 1) for line in read(sys.argv[1]).splitlines())
    rows = []
    for name, function in ATTEMPTS.items():
        if given["walls"] == "none" and name in ONLY_INSIDE:
            continue
        got, why = None, None
        try:
            got = function(given) or None
        except NotTried as error:
            why = f"not tried: {error}"
        except Exception as error:  # noqa: BLE001 - every attempt gets its turn
            why = f"{type(error).__name__}: {error}"
        rows.append(f'{quoted(name)}: {{"got": {quoted(got) if got else "null"}, "why": {quoted(why)}}}')
    with open("report.json", "w") as file:
        file.write("{" + ",\n".join(rows) + "}")


if __name__ == "__main__":
    main()
