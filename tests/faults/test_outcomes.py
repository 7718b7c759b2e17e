"""An agent cannot choose to be errored, nor stop its rivals; what a provider really does to it is errored."""

from __future__ import annotations

import json

import pytest

from helpers.thinned import thinned
from helpers.user_project import BOUND_BY_MODES
from orvl.testing import Answer, Fault, ModelServer, Tokens

CLIENT = """
import json, os, signal, socket, sys, time, urllib.error, urllib.request

url, key, model = sys.argv[1:4]

def ask(words="Hi", headers={}, model=model, path="/chat/completions", key=key, **more):
    body = {"model": model, "messages": [{"role": "user", "content": words}], **more}
    all_headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json", **headers}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), all_headers)
    return urllib.request.urlopen(request).read()

def raw(head, body=b""):
    host, port = url.split("/")[2].split(":")
    connection = socket.create_connection((host, int(port)))
    lines = ["POST /v1/chat/completions HTTP/1.1", "Host: x", "Authorization: Bearer " + key, *head, "", ""]
    connection.sendall("\\r\\n".join(lines).encode() + body)
    return connection

def poisoned():
    return json.dumps({"model": model, "messages": [{"role": "user", "content": "poison"}], "stream": True}).encode()
"""
AGENT = """
from pathlib import Path

protocol = "openai"
models = {"host": ["m"]}

def command(prompt, endpoint, model):
    program = Path(__file__).parent.parent / "tool" / "NAME.py"
    return ["python3", program, endpoint.url, endpoint.key, model]
"""
ONE = "---\nmetrics: {speed: 1}\n---\nSay hello.\n"


def contestant(project, name: str, code: str) -> None:
    project.write(f"tool/{name}.py", CLIENT + code)
    project.agent(name, AGENT.replace("NAME", name))


def prepared(project, server: ModelServer, code: str, *, attempts: int = 1, more: str = "", limits: str = "") -> None:
    """A rogue that does what `code` says, beside two honest agents."""
    contestant(project, "rogue", code)
    for name in ("honest", "other"):
        contestant(project, name, "print(ask())")
    project.eval("one", ONE)
    project.toml(
        f'attempts = {attempts}\n[limits]\n{limits}\n[providers.host]\nprotocol = "openai"\n'
        f'base_url = "{server.base_url("openai")}"\nkey = ""\nprices = {{m = {{input = 1, output = 1}}}}\n{more}\n'
    )


def outcomes(project, *words: str, **how) -> dict[str, dict[str, int]]:
    done = project.orvl("rogue,honest,other", "--eval=one", "--json", *words, **how)
    assert done.status in (0, 1), done.err
    return {row["agent"]: row["runs"] for row in done.json["ratings"]}


def assert_blamed(project, *words: str, **how) -> None:
    """The rogue is failed, and rated as such; its rivals are rated in full."""
    runs = outcomes(project, *words, **how)
    reasons = project.rows("SELECT outcome, reason FROM attempt")
    assert runs["rogue"] == {"planned": 1, "rated": 1, "failed": 1, "errored": 0}, reasons
    for name in ("honest", "other"):
        assert runs[name] == {"planned": 1, "rated": 1, "failed": 0, "errored": 0}, reasons


def poison(fault: Fault):
    """A server that fails only requests with a word, or a header, of the rogue's."""

    def script(request):
        is_poisoned = "poison" in json.dumps(request.body) or "x-poison" in request.headers
        return fault if is_poisoned else Answer("Hello.", tokens=Tokens(input=10, output=5))

    return script


# -- what an agent makes its provider say

FAULTS = [
    Fault(401, "Incorrect API key provided."),
    Fault(402, "You requested up to 99999 tokens, and can afford 12."),
    Fault(403, "This request was flagged."),
    Fault(404, "There is no such response."),
    Fault(400, "Your billing is not active; check your API key.", kind="insufficient_quota"),
    Fault(500, "Internal error."),
    Fault(429, "Slow down.", headers={"retry-after": "3600"}),
    Fault(302, "Moved.", headers={"location": "http://127.0.0.1:9/"}),
]


@pytest.mark.parametrize("fault", thinned({str(fault.status): fault for fault in FAULTS}))
def test_an_error_that_only_its_own_request_meets_is_the_agents(project, fault):
    with ModelServer(poison(fault)) as server:
        prepared(project, server, "ask('poison')")
        assert_blamed(project)
    assert "Giving up" not in project.orvl("report").out


def test_a_header_of_its_own_excuses_nobody(project):
    with ModelServer(poison(Fault(401, "CORS requests are not allowed."))) as server:
        prepared(project, server, "ask(headers={'X-Poison': '1'})")
        assert_blamed(project)


def test_words_that_a_provider_repeats_stop_nobody(project):
    def script(request):
        roles = [message["role"] for message in request.body["messages"]]
        bad = next((role for role in roles if role not in ("user", "system", "assistant")), None)
        return Fault(400, f"Invalid role '{bad}'.") if bad else Answer("Hello.")

    with ModelServer(script) as server:
        role = "billing: insufficient_quota, credit balance too low, invalid api key"
        prepared(project, server, f"ask(messages=[{{'role': {role!r}, 'content': 'x'}}])")
        assert_blamed(project)


def test_a_stream_that_its_request_breaks_earns_another_attempt_and_no_more(project):
    with ModelServer(poison(Fault.in_stream("Overloaded."))) as server:
        prepared(project, server, "print(ask('poison', stream=True)); sys.exit(1)", attempts=2)
        assert_blamed(project)
    made = project.rows("SELECT outcome FROM attempt WHERE reason IS NOT NULL ORDER BY id")
    assert [outcome for (outcome,) in made].count("errored") == 1


def test_a_rogue_that_goes_on_after_the_error_may_finish(project):
    code = "try:\n    ask('poison')\nexcept urllib.error.HTTPError:\n    print(ask())"
    with ModelServer(poison(Fault(401, "No."))) as server:
        prepared(project, server, code)
        runs = outcomes(project)
    assert runs["rogue"] == {"planned": 1, "rated": 1, "failed": 0, "errored": 0}


# -- calls that it lets hang, and doors that it runs into

HANGING = {
    "waits for a long answer": "ask('poison')",
    "never reads": "c = raw(['Content-Length: %d' % len(poisoned())], poisoned()); time.sleep(60)",
    "never sends its body": "c = raw(['Content-Length: 999'], b'{'); time.sleep(60)",
    "leaves at once and sleeps": "raw(['Content-Length: %d' % len(poisoned())], poisoned()).close(); time.sleep(60)",
    "opens many": "c = [raw(['Content-Length: %d' % len(poisoned())], poisoned()) for _ in range(30)]; time.sleep(60)",
}
SLOW = ("leaves at once and sleeps", "opens many")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, id=name, marks=[pytest.mark.nightly] if name in SLOW else [])
        for name, code in HANGING.items()
    ],
)
def test_a_call_that_it_lets_hang_is_its_own(project, code):
    def script(request):
        if "poison" not in json.dumps(request.body):
            return Answer("Hello.")
        return Answer("x" * 4000, first_byte=0.0 if request.stream else 8.0, between=0.25, pieces=30)

    with ModelServer(script) as server:
        prepared(project, server, code, limits="turn = 4")
        assert_blamed(project)


DOORS = {
    "another key": "ask(); ask(key='sk-mine')",
    "another path": "ask(); ask(path='/embeddings')",
    "another model": "ask(); ask(model='dearer')",
    "no JSON": "ask(); urllib.request.urlopen(urllib.request.Request(url + '/chat/completions', b'{', "
    "{'Authorization': 'Bearer ' + key}))",
    "a lie on standard error": "ask(); sys.stderr.write('Error: 529 overloaded_error, rate limit, billing'); sys.exit(1)",
    "an odd status": "ask(); sys.exit(137)",
    "a signal to itself": "ask(); os.kill(os.getpid(), signal.SIGKILL)",
    "a signal to all": "ask(); os.kill(-1, signal.SIGKILL)",
    "no descriptors": "ask(); f = [open('/dev/null') for _ in range(10**6)]",
    "no memory": "ask(); import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28)); bytearray(1 << 30)",
    "no ports": "ask()\nfor _ in range(400): c = raw([])\nsys.exit(3)",
}


@pytest.mark.parametrize("code", thinned(DOORS))
def test_a_door_that_it_runs_into_is_its_own(project, code):
    with ModelServer(lambda _: Answer("Hello.")) as server:
        prepared(project, server, code)
        assert_blamed(project)


# -- ways to look like somebody else's fault

ALL_AT_ONCE = """
import threading
for _ in range(60):
    threading.Thread(target=lambda: ask('slow'), daemon=True).start()
time.sleep(1.5)
os._exit(1)
"""
IN_A_PAUSE = """
import threading
threading.Thread(target=lambda: ask('poison'), daemon=True).start()
time.sleep(1.0)
os._exit(1)
"""
GUISES = {
    "quits in a pause that its own error caused": IN_A_PAUSE,
    "a flood of which the last call waits": ALL_AT_ONCE,
    "closes its outputs": "ask(); os.close(1); os.close(2); sys.exit(1)",
    "stops itself": "ask(); os.kill(os.getpid(), signal.SIGSTOP)",
    "a dead port": "ask(); socket.create_connection(('127.0.0.1', 9))",
    "no processes": "ask()\nwhile True: os.fork() or time.sleep(60)",
    "a name space of its own": "ask(); import ctypes; ctypes.CDLL(None).unshare(0x30000000); sys.exit(1)",
    "the first process of its sandbox": "ask()\nfor pid in range(1, 30):\n    try: os.kill(pid, signal.SIGKILL)\n"
    "    except OSError: pass\nsys.exit(1)",
    "huge headers": "ask(); ask(headers={'X-Long': 'a' * 100_000})",
    "an open call beside its crash": "c = raw(['Content-Length: 9'], b'{'); ask(); sys.exit(1)",
    "a full home": "ask()\nopen(os.environ['HOME'] + '/x', 'wb').write(b'x' * (80 << 20)); time.sleep(30)",
    "a full TMPDIR": "ask()\nfor n in range(80): open(os.environ['TMPDIR'] + f'/{n}', 'wb').write(b'x' * (1 << 20))\ntime.sleep(30)",
    "another protocol": "ask(); ask(path='/messages', headers={'anthropic-version': '2023-06-01'})",
    "another spelling": "ask(); ask(N=2)",
}


@pytest.mark.parametrize("code", thinned(GUISES))
def test_no_guise_makes_it_errored(project, code):
    def script(request):
        words = json.dumps(request.body)
        if "poison" in words:
            return Fault(503, "No.")
        return Answer("Hello.", first_byte=8.0 if "slow" in words else 0.0)

    with ModelServer(script) as server:
        prepared(project, server, code, limits="turn = 6\nprocesses = 60\ndisk = 40")
        assert_blamed(project)


STATUSES = (408, 409, 413, 422, 425, 451, 501, 529)


@pytest.mark.parametrize("status", thinned(STATUSES, every=4))
def test_no_status_that_it_provokes_makes_it_errored(project, status):
    with ModelServer(poison(Fault(status, "context_length_exceeded", headers={"retry-after-ms": "1"}))) as server:
        prepared(project, server, "ask(); ask('poison')")
        assert_blamed(project)


def test_a_rival_that_takes_all_places_is_not_the_honest_ones_failure(project):
    """A provider that takes two calls at once, and an agent that opens sixty which take long."""

    def script(request):
        return Answer("Hello.", first_byte=1.0 if "slow" in json.dumps(request.body) else 0.1)

    with ModelServer(script) as server:
        prepared(project, server, ALL_AT_ONCE.replace("1.5", "5"), limits="turn = 8", more="concurrency = 2")
        assert_blamed(project, "--concurrency=3")


# -- what it leaves

LEFT = {
    "a locked workspace": "os.makedirs('a/b'); open('a/b/c', 'w'); os.chmod('a', 0); os.chmod('.', 0)",
    "no workspace": "import shutil; shutil.rmtree(os.getcwd(), ignore_errors=True); os.path.exists('.') and os.rmdir(os.getcwd())",
    "a locked home": "os.mkdir(os.environ['HOME'] + '/.x'); os.chmod(os.environ['HOME'] + '/.x', 0); os.chmod(os.environ['HOME'], 0)",
    "odd names": "open(b'\\xff\\xfe\\n', 'w'); os.symlink('/etc/shadow', 'l'); os.mkfifo('p')",
    "deep folders": "[(os.mkdir('d' * 200), os.chdir('d' * 200)) for _ in range(60)]",
}


@pytest.mark.parametrize("code", thinned(LEFT))
def test_what_nobody_can_read_is_no_excuse(project, code):
    with ModelServer(lambda _: Answer("Hello.")) as server:
        prepared(project, server, f"ask()\n{code}")
        runs = outcomes(project, prefix=BOUND_BY_MODES)
    reasons = project.rows("SELECT outcome, reason FROM attempt")
    assert all(row["rated"] == 1 and row["errored"] == 0 for row in runs.values()), reasons


TWO = "---\nmetrics: {speed: 1}\n---\nOne.\n---\nTwo.\n"
SECOND_TURNS = {
    "its program is gone": ('return ["./go.sh", str(turn)]', "#!/bin/sh\nrm -f go.sh"),
    "an id that is none": ('return ["sh", "./go.sh"] + ([session] if session else [])', "printf 'a\\0b'"),
    "an id without end": ('return ["sh", "./go.sh"] + ([session] if session else [])', "yes x | head -c 3000000"),
    "a word that its file stumbles over": ('return ["sh", "./go.sh", str(int(session or 0))]', "echo seven"),
    "a lie about its provider": ('return ["sh", "./go.sh"]', "echo lie"),
    "numbers without end": ('return ["sh", "./go.sh"]', "echo huge"),
    "what its read cannot read": ('return ["sh", "./go.sh"]', "echo crash"),
}


@pytest.mark.parametrize(("command", "script"), thinned(SECOND_TURNS))
def test_what_it_says_breaks_no_later_turn_by_anybody_elses_fault(project, command, script):
    project.agent(
        "rogue",
        f"""
        models = {{"none": ["m"]}}

        def command(prompt, session, turn, workspace):
            if turn == 1:
                (workspace / "go.sh").write_text({script!r})
                (workspace / "go.sh").chmod(0o755)
            {command}

        def read(output):
            told = {{"lie": {{"provider_error": "529 overloaded"}}, "huge": {{"usage": {{"input_tokens": 10**400}}}}}}
            if output.strip() == "crash":
                raise KeyError("choices")
            return told.get(output.strip()) or {{"session": output or None}}
        """,
    )
    project.eval("one", TWO)
    project.toml("attempts = 1")
    done = project.orvl("rogue", "--eval=one", "--json")
    reasons = project.rows("SELECT outcome, reason FROM attempt")
    assert done.json["ratings"][0]["runs"] == {"planned": 1, "rated": 1, "failed": 1, "errored": 0}, reasons


def test_a_long_answer_is_told_again_in_part(project):
    """An agent without sessions gets what was said so far as an argument, which has a largest size."""
    with ModelServer(lambda _: Answer("x\0y" * 300_000)) as server:
        prepared(project, server, "ask()")
        project.agent("rogue", AGENT.replace("NAME", "rogue").replace("model]", "model, prompt]"))
        project.eval("one", TWO)
        runs = outcomes(project)
    assert runs["rogue"] == {"planned": 1, "rated": 1, "failed": 0, "errored": 0}


# -- what a provider, or this machine, really does

REAL = {
    "a bad key": lambda _: Fault(401, "Incorrect API key provided."),
    "no credit": lambda _: Fault(402, "Insufficient credits."),
    "no credit, by words alone": lambda _: Fault(400, "Your credit balance is too low to access the API."),
    "no such model": lambda _: Fault(404, "The model does not exist."),
    "broken": lambda _: Fault(500, "Oops."),
    "cut off": lambda _: Fault.cut(),
    "silent": lambda _: Fault.hang(),
    "no answer": lambda _: Fault.refuse(),
}


@pytest.mark.parametrize("script", thinned(REAL))
def test_what_a_provider_really_does_is_errored(project, script):
    with ModelServer(script) as server:
        prepared(project, server, "print(ask(stream=True))", more="timeout = 1")
        done = project.orvl("rogue", "--eval=one", "--json")
    reasons = project.rows("SELECT outcome, reason FROM attempt")
    assert done.json["ratings"][0]["runs"] == {"planned": 1, "rated": 0, "failed": 0, "errored": 1}, reasons


def test_a_moments_trouble_is_not_seen_at_all(project):
    with ModelServer([Fault(503), Fault(503), Fault(503), Answer("OK"), Answer("Hello.")]) as server:
        prepared(project, server, "print(ask())")
        done = project.orvl("rogue", "--eval=one", "--json")
    assert done.json["ratings"][0]["runs"] == {"planned": 1, "rated": 1, "failed": 0, "errored": 0}


# -- whom it stops


def test_two_that_meet_the_same_stop_all(project):
    with ModelServer(lambda _: Fault(401, "Incorrect API key provided.")) as server:
        prepared(project, server, "ask()")
        done = project.orvl("rogue,honest,other", "--eval=one", "--episodes=5", "--concurrency=1", "--json")
        assert len(server.requests) == 4, "two runs, each with a question of orvl's own"
    said = [one for one in done.json["warnings"] if "Giving up on host" in one]
    assert len(said) == 1 and "for all" in said[0] and "401 Incorrect API key provided" in said[0]


def test_work_that_a_judges_provider_chokes_on_stops_no_judging_of_others(project):
    def script(request):
        if request.model == "j":
            words = json.dumps(request.body)
            verdict = {"items": [{"verdict": "yes", "pointer": "answer.txt:1", "why": "x"}], "rationale": "x"}
            return Fault(401, "Flagged.") if "poison" in words else Answer(json.dumps(verdict))
        return Answer("Hello.")

    with ModelServer(script) as server:
        prepared(project, server, "ask(); open('answer.txt', 'w').write('poison')", more="")
        for name in ("honest", "other"):
            contestant(project, name, "ask(); open('answer.txt', 'w').write('hello')")
        toml = (project.root / "orvl.toml").read_text()
        judge = '[judges.strict]\nmodel = "j"\nprovider = "host"\n'
        project.toml(toml.replace("[limits]", f"{judge}[limits]"))
        project.score("neat", '"""Is it neat?"""\nitems = ["It is neat."]\n')
        project.eval("one", "---\nmetrics: {neat: 1}\n---\nSay hello.\n")
        project.orvl("rogue,honest,other", "--eval=one", "--episodes=2", "--concurrency=1", "--json")
        asked = [json.dumps(request.body) for request in server.requests if request.model == "j"]
    assert sum("hello" in words for words in asked) >= 4, "each honest run was judged"
