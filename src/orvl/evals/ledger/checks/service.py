"""The service and the command line that are checked, and the clients that talk to them.

Both run below a small program of ours in the subject's sandbox, which starts them, kills them without warning as a power
cut does, and hands files over.
"""

import base64
import http.client
import json
import random
import select
import time

from orvl import checks

START, PATIENCE = 60.0, 40.0
"""Seconds for the service to start, and for an answer."""
LONGEST_ANSWER = 8 << 20
KEPT = 1.5
"""Seconds for which a connection is used again."""
MOST_SILENCES = 2
KEEPER = r"""
import base64, json, os, shutil, signal, socket, subprocess, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(1)
wire = listener.accept()[0].makefile("rwb")
child = None

def begin(argv, env):
    global child
    log = open("/tmp/keeper", "wb")
    child = subprocess.Popen(argv, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    return {}

def alive():
    is_alive = child is not None and child.poll() is None
    said = "" if is_alive else open("/tmp/keeper", errors="replace").read()[-300:]
    return {"alive": is_alive, "said": said}

def end(number):
    global child
    if child is None:
        return {}
    try:
        os.killpg(child.pid, number)
    except OSError:
        pass
    try:
        child.wait(8)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except OSError:
        pass
    status, child = child.wait(), None
    return {"status": status}

def run(argv, env):
    try:
        ended = subprocess.run(argv, env={**os.environ, **env}, stdin=subprocess.DEVNULL, capture_output=True, timeout=40)
    except subprocess.TimeoutExpired:
        return {"status": None, "stdout": "", "stderr": "it did not end"}
    text = lambda content: base64.b64encode(content[: 4 << 20]).decode()
    return {"status": ended.returncode, "stdout": text(ended.stdout), "stderr": text(ended.stderr)}

def put(path, content):
    if os.path.dirname(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(base64.b64decode(content))
    return {}

def get(path):
    try:
        with open(path, "rb") as file:
            return {"content": base64.b64encode(file.read()).decode()}
    except OSError:
        return {"content": None}

def copy(source, target):
    shutil.copytree(source, target, symlinks=True, ignore=lambda folder, names: [name for name in names if not (os.path.isfile(folder + "/" + name) or os.path.isdir(folder + "/" + name))])
    return {}

DO = {"begin": begin, "alive": alive, "end": end, "run": run, "put": put, "get": get, "copy": copy}
for line in wire:
    what = json.loads(line)
    try:
        answer = DO[what.pop("do")](**what)
    except OSError as error:
        answer = {"failed": str(error)}
    wire.write(json.dumps(answer).encode() + b"\n")
    wire.flush()
end(signal.SIGKILL)
"""


class Wrong(Exception):
    """What is not as it should be, in a sentence."""


class Hopeless(Exception):
    """Why nothing more can be asked."""


class Answer:
    def __init__(self, status, data=None, text=""):
        self.status, self.data, self.text = status, data, text

    def __repr__(self):
        return f"{self.status} {self.text[:200]}"

    def same_as(self, other):
        return (self.status, self.data) == (other.status, other.data)


class Ended:
    def __init__(self, answer):
        self.status = answer["status"]
        self.stdout_bytes, self.stderr_bytes = (base64.b64decode(answer[name]) for name in ("stdout", "stderr"))

    @property
    def stdout(self):
        return self.stdout_bytes.decode("utf-8", "replace")

    @property
    def stderr(self):
        return self.stderr_bytes.decode("utf-8", "replace")


class Call:
    """One request."""

    def __init__(self, method, path, body=None, headers=()):
        self.method, self.path, self.body, self.headers = method, path, body, tuple(headers)

    @property
    def content(self):
        body = b"" if self.body is None else json.dumps(self.body, ensure_ascii=False).encode()
        rows = [f"{self.method} {self.path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
        rows += [] if self.body is None else ["Content-Type: application/json"]
        rows += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([*rows, "", ""]).encode() + body

    def __repr__(self):
        keys = "".join(f" [{value}]" for _, value in self.headers)
        return f"{self.method} {self.path}{keys}" + ("" if self.body is None else f" {json.dumps(self.body)[:160]}")


class Host:
    """The machine on which the service runs; it can be told to start, to stop, and to lose its power."""

    def __init__(self):
        self._wire = None
        self.port = None
        self.env = {}
        self.config = "config"
        self.data = None
        self._idle = []
        self._silences = 0

    # -- files and commands

    def _tell(self, **what):
        if self._wire is None:
            port = random.SystemRandom().randrange(30_000, 32_000)
            checks.start("python3", "-I", "-S", "-c", KEEPER, str(port))
            self._wire = checks.connect(port, wait=START)
            self._wire.settimeout(60)
            self._file = self._wire.makefile("rwb")
        try:
            self._file.write(json.dumps(what).encode() + b"\n")
            self._file.flush()
            line = self._file.readline()
        except OSError as error:
            raise Hopeless(f"the sandbox does not answer: {error}") from error
        if not line.endswith(b"\n"):
            raise Hopeless("the sandbox has ended")
        answer = json.loads(line)
        if "failed" in answer:
            raise Wrong(f"in the sandbox: {answer['failed']}")
        return answer

    def put(self, path, content):
        content = content.encode() if isinstance(content, str) else content
        self._tell(do="put", path=path, content=base64.b64encode(content).decode())

    def get(self, path):
        content = self._tell(do="get", path=path)["content"]
        return None if content is None else base64.b64decode(content)

    def copy(self, source, target):
        self._tell(do="copy", source=source, target=target)

    def tally(self, *words, data=None, config=None, env=None):
        """One command, whether the service runs or not."""
        argv = ["node", "bin/tally.js", *words, "--data", data or self.data, "--config", config or self.config]
        return Ended(self._tell(do="run", argv=argv, env={**self.env, **(env or {})}))

    def report(self, *words, data=None, config=None, statuses=(0,)):
        """What a command prints as JSON."""
        ended = self.tally(*words, "--json", data=data, config=config)
        if ended.status not in statuses:
            raise Wrong(f"tally {' '.join(words)}: status {ended.status}, {ended.stderr[-200:]}")
        try:
            return json.loads(ended.stdout)
        except ValueError:
            raise Wrong(f"tally {' '.join(words)} --json: saw {ended.stdout[:200]!r}") from None

    # -- the service

    def start(self, data=None):
        self.cut_power()
        self.data = data or self.data
        self.port = random.SystemRandom().randrange(20_000, 30_000)
        argv = ["node", "bin/tally.js", "serve", "--port", str(self.port), "--data", self.data, "--config", self.config]
        self._tell(do="begin", argv=argv, env=self.env)
        until = time.monotonic() + START
        while True:
            try:
                checks.connect(self.port, wait=0.4).close()
                return
            except checks.CheckError as error:
                state = self._tell(do="alive")
                if not state["alive"] or time.monotonic() > until:
                    self.port = None
                    self._tell(do="end", number=9)
                    raise Dead(f"the service cannot be started: {state['said'] or error}") from error

    def stop(self, number=15):
        for phone, _ in self._idle:
            phone.close()
        self._idle = []
        if self.port is not None:
            self.port = None
            self._tell(do="end", number=number)

    def cut_power(self):
        self.stop(9)

    def reboot(self):
        """Another machine, as far as processes can tell: it counts them from the beginning, as a container does."""
        self.cut_power()
        if self._wire is not None:
            self._file.close()
            self._wire.close()
            self._wire = None
            checks.stop()

    def restart(self, number=15):
        self.stop(number)
        self.start()

    # -- requests

    def phone(self):
        """A connection that was used a moment ago, or a new one."""
        while self._idle:
            phone, until = self._idle.pop()
            if time.monotonic() < until:
                return phone
            phone.close()
        if self.port is None:
            raise Wrong("the service does not run")
        try:
            phone = checks.connect(self.port, wait=PATIENCE)
        except checks.CheckError as error:
            raise self._silence(f"no connection to the service: {error}") from error
        phone.settimeout(PATIENCE)
        return phone

    def ask(self, call):
        return self.ask_at_once([call])[0]

    def ask_at_once(self, calls):
        """Sends each request on a connection of its own, all in the same moment."""
        phones = [self.phone() for _ in calls]
        kept = []
        try:
            for phone, call in zip(phones, calls):
                send(phone, call)
            answers = []
            for phone, call in zip(phones, calls):
                answer, is_kept = receive(phone, call)
                answers.append(answer)
                if is_kept:
                    kept.append(phone)
            return answers
        except TimeoutError as error:
            raise self._silence(f"no answer within {PATIENCE:g} s to {calls[0]}") from error
        finally:
            self._idle += [(phone, time.monotonic() + KEPT) for phone in kept]
            for phone in phones:
                if phone not in kept:
                    phone.close()

    def ask_until_cut(self, calls, most):
        """Sends requests from several connections, each when one has its answer, and cuts the power as soon as `most`
        have theirs. The answers by the place of their calls."""
        waiting = list(enumerate(calls))
        busy, found = {}, {}
        for phone in [self.phone() for _ in range(min(6, len(waiting)))]:
            busy[phone] = waiting.pop(0)
            send(phone, busy[phone][1])
        until = time.monotonic() + PATIENCE
        while busy and len(found) < most:
            ready = select.select(list(busy), [], [], 1.0)[0]
            if not ready and time.monotonic() > until:
                raise self._silence(f"no answer within {PATIENCE:g} s to {calls[0]}")
            for phone in ready:
                place, call = busy.pop(phone)
                found[place], is_kept = receive(phone, call)
                if len(found) >= most:
                    phone.close()
                    break
                if waiting:
                    again = phone if is_kept else self.phone()
                    busy[again] = waiting.pop(0)
                    send(again, busy[again][1])
        self.cut_power()
        for phone in busy:
            phone.close()
        return found

    def _silence(self, sentence):
        self._silences += 1
        return Wrong(sentence) if self._silences < MOST_SILENCES else Hopeless(sentence)


class Dead(Wrong):
    """The service does not start."""


def send(phone, call):
    try:
        phone.sendall(call.content)
    except OSError as error:
        raise Wrong(f"{call} could not be sent: {error}") from error


def receive(phone, call):
    try:
        response = http.client.HTTPResponse(phone, method=call.method)
        response.begin()
        content = response.read(LONGEST_ANSWER)
    except TimeoutError:
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Wrong(f"no answer to {call}: {error!r}") from error
    text = content.decode("utf-8", "replace")
    is_kept = response.status < 400 and not response.will_close
    try:
        return Answer(response.status, json.loads(content), text), is_kept
    except (ValueError, RecursionError):
        return Answer(response.status, None, text), is_kept
