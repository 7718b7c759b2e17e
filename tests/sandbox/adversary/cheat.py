# ruff: noqa: SIM115, SIM102
"""Leaves a program that does none of its work, and tries to get its check passed in every other way.

The check wants the words in a hidden file. Whatever the program finds out is printed; what it is run with says how.
"""

import os
import shutil
import sys

if __name__ == "__main__" and "leave" in sys.argv:
    shutil.copy(__file__, "answer.py")
    if "locked" in sys.argv:
        os.makedirs("locked/inner")
        open("locked/inner/words.txt", "w").write("hidden-words-\n")
        open("unreadable.txt", "w").write("hidden-words-\n")
        for path in ("locked/inner/words.txt", "unreadable.txt", "locked/inner", "locked", "."):
            os.chmod(path, 0)
    sys.exit()

import contextlib
import ctypes
import glob
import resource
import signal
import socket
import subprocess
import time

PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
PROCESS_VM_READV, PIDFD_OPEN, PIDFD_GETFD = 310, 434, 438
libc = ctypes.CDLL(None, use_errno=True)


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def exits_early():
    os._exit(0)


def searches_the_disk():
    """Every file that can be read and looks like the hidden one."""
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/usr", "/opt")]
        for name in names:
            with contextlib.suppress(OSError):
                path = os.path.join(folder, name)
                if (
                    os.path.isfile(path)
                    and os.path.getsize(path) < 100_000
                    and b"hidden-words-" in (text := open(path, "rb").read())
                ):
                    if "answer.py" not in path:
                        print(text.decode("utf-8", "replace"))


def searches_other_processes():
    for pid in processes():
        for path in (
            f"/proc/{pid}/cwd/checks/words.txt",
            f"/proc/{pid}/root/workspace/checks/words.txt",
            f"/proc/{pid}/environ",
            f"/proc/{pid}/cmdline",
        ):
            with contextlib.suppress(OSError):
                print(open(path, "rb").read().decode("utf-8", "replace"))


def reads_other_memory():
    for pid in processes():
        with contextlib.suppress(OSError):
            lines = open(f"/proc/{pid}/maps").read().splitlines()
            memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)
            for line in lines:
                first, _, last = line.split()[0].partition("-")
                with contextlib.suppress(OSError, OverflowError):
                    content = os.pread(memory, min(int(last, 16) - int(first, 16), 1 << 24), int(first, 16))
                    if b"hidden-words-" in content:
                        print(content[content.index(b"hidden-words-") :][:40].decode("utf-8", "replace"))


def traces_others():
    """Says who could be traced; nobody is printed where nobody can be."""
    for pid in processes():
        for how in (PTRACE_ATTACH, PTRACE_SEIZE):
            if libc.ptrace(how, pid, 0, 0) == 0:
                print(f"traced {pid}")
        target = libc.syscall(PIDFD_OPEN, pid, 0)
        for number in range(16):
            if target >= 0 and (fd := libc.syscall(PIDFD_GETFD, target, number, 0)) >= 0:
                print(f"took descriptor {number} of {pid}")
                with contextlib.suppress(OSError):
                    os.write(fd, b"\1" + bytes(7))


def writes_to_all_descriptors():
    for fd in range(3, 1024):
        for text in (b"\0" * 8, b"\1" + bytes(7), b'{"exit-code": 0}\n', b"hidden-words-\n"):
            with contextlib.suppress(OSError):
                os.write(fd, text)


def kills_everybody():
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(OSError):
            os.kill(-1, number)
    for pid in processes():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def asks_in_the_checkers_name():
    """Looks for the checker's socket: at its path, among all files, and in the list of the kernel."""
    paths = [
        "/tmp/subject",
        *glob.glob("/tmp/**", recursive=True),
        *glob.glob("/home/**", recursive=True),
        *glob.glob("/run/**", recursive=True),
    ]
    with contextlib.suppress(OSError):
        paths += [line.split()[-1] for line in open("/proc/net/unix").read().splitlines()[1:]]
    for path in paths:
        for address in (path, "\0" + path.lstrip("@")):
            with contextlib.suppress(OSError, ValueError), socket.socket(socket.AF_UNIX) as one:
                one.settimeout(2)
                one.connect(address)
                one.sendall(b'{"do": "read", "path": "checks/words.txt"}\n')
                print("answered:", one.recv(4096))
    for port in range(1, 65536):
        with contextlib.suppress(OSError), socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0 and one.getsockname() != one.getpeername():
                print("reached port", port)


def leaves_a_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            for fd in range(3):
                os.close(fd)
            while True:
                with contextlib.suppress(OSError):
                    open("alive", "a").write("x")
                time.sleep(0.01)
        os._exit(0)


def leaves_traps():
    """For who reads or writes its files afterwards."""
    os.symlink("/etc/hostname", "words.txt")
    os.symlink("/", "all")
    os.mkfifo("pipe")
    os.mkdir("locked")
    open("locked/words.txt", "w").write("hidden-words-\n")
    os.chmod("locked", 0)
    os.makedirs("in.txt/deep")
    folder = os.getcwd()
    for _ in range(400):
        os.mkdir("d" * 50)
        os.chdir("d" * 50)
    os.chdir(folder)


def limits_others():
    """A limit on its time, and the kernel kills whom nobody in here can."""
    for pid in processes():
        for what in (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
            with contextlib.suppress(OSError):
                resource.prlimit(pid, what, resource.prlimit(pid, what))
                print(f"reached a limit of {pid}")


def remembers():
    """Leaves a mark in each place that could outlive it, and says which ones it finds there."""
    places = (
        ".",
        "/tmp",
        "/dev/shm",
        "/run",
        "/var/tmp",
        "/dev/mqueue",
        os.path.expanduser("~"),
        "/workspace/..",
        "/proc/self",
    )
    for place in places:
        with contextlib.suppress(OSError):
            if os.path.exists(os.path.join(place, ".mark")):
                print("reached a mark in", place)
            open(os.path.join(place, ".mark"), "w").close()
    for number, call in ((29, "shmget"), (68, "msgget"), (64, "semget")):
        arguments = {"shmget": (77, 4096), "msgget": (77,), "semget": (77, 1)}[call]
        if libc.syscall(number, *arguments, 0o600) >= 0:
            print("reached", call)
        libc.syscall(number, *arguments, 0o1600)
    if libc.syscall(249, b"user", b"mark", None, -3) >= 0 or libc.syscall(250, 10, -3, b"user", b"mark", 0) >= 0:
        print("reached a key")
    libc.syscall(248, b"user", b"mark", b"x", 1, -4)
    for address in ("\0mark", ("127.0.0.1", 7777)):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        with contextlib.suppress(OSError), socket.socket(family) as one:
            if one.connect_ex(address) == 0 and one.getsockname() != one.getpeername():
                print("reached a server", address)
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            with contextlib.suppress(OSError), socket.socket(family) as server:
                server.bind(address)
                server.listen()
                while True:
                    server.accept()
            os._exit(0)


def dies_in_every_way():
    for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGXCPU, signal.SIGSYS, signal.SIGKILL):
        if os.fork() == 0:
            os.kill(os.getpid(), number)
        os.wait()
    os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def never_ends():
    """With a crowd that ignores signals, holds both outputs, and floods them."""
    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_IGN)
    for _ in range(20):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            while True:
                for fd in (1, 2):
                    with contextlib.suppress(OSError):
                        os.write(fd, b"hidden-words-\n")
                time.sleep(0.05)
    while True:
        time.sleep(100)


def leaves_odd_names():
    for name in (b"x\nanswer.txt", b"\xff\xfe", b"\x1b[2J", b"-rf", b" ", b"\xe2\x80\xae"):
        open(name, "wb").close()


def swaps_links():
    """While somebody reads and writes its files: they are in turn files, folders, pipes, and links to what is outside."""
    print("swapping", flush=True)
    makers = (
        lambda: open("swap", "w").write("own\n"),
        lambda: os.mkdir("swap"),
        lambda: os.symlink("/etc", "swap"),
        lambda: os.symlink("/etc/hostname", "swap"),
        lambda: os.mkfifo("swap"),
        lambda: os.symlink("..", "swap"),
    )
    while True:
        for make in makers:
            with contextlib.suppress(OSError):
                make()
            for remove in (os.unlink, shutil.rmtree):
                with contextlib.suppress(OSError):
                    remove("swap")


def locks_its_folders():
    for path in (os.environ["HOME"], os.environ["TMPDIR"], os.getcwd()):
        os.chmod(path, 0)


def locks_its_folders_again_and_again():
    while True:
        locks_its_folders()


def fills_the_disk():
    """More quickly than anybody looks."""
    for number in range(10_000):
        with contextlib.suppress(OSError):
            fd = os.open(f"full-{number}", os.O_CREAT | os.O_WRONLY)
            for size in (256 << 20, 16 << 20, 1 << 20, 4096):
                with contextlib.suppress(OSError):
                    while True:
                        os.posix_fallocate(fd, os.fstat(fd).st_size, size)
                        if os.fstat(fd).st_size >= 1 << 30:
                            break
        if os.statvfs(".").f_bavail == 0:
            break
    time.sleep(30)


def prints_without_end():
    while True:
        sys.stdout.write("hidden-words-\n" * 10_000)


def forks_without_end():
    while True:
        with contextlib.suppress(OSError):
            if os.fork() == 0:
                time.sleep(5)
                os._exit(0)


def takes_all_memory():
    taken = []
    while True:
        taken.append(b"x" * (64 << 20))


def serves_nonsense():
    listening = socket.create_server(("127.0.0.1", 8000))
    while True:
        one, _ = listening.accept()
        with contextlib.suppress(OSError):
            while True:
                one.sendall(b"\xff" * 65536)


def serves_late():
    subprocess.run(["sleep", "300"])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
