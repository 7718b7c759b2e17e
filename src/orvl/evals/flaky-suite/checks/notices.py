"""What the suite must see: bugs, also those that vanish when one tries again, and the mends that were undone."""

import json
from pathlib import Path

from orvl import checks

from cases import Wrong
from mutants import FIRST_CALL, first_call
from suite import Suite

ORIGINAL = Path(__file__).with_name("original")
SECONDS = 90.0
BUGS = 9
CI = ("node", "ci/run.js")
MENDED = {
    "rounds that overlap": ("worker", "queue", "service", "http"),
    "a new id for each try": ("relay",),
    "the journal": ("store",),
    "the whole program": None,
}


def bugs():
    suite = Suite(checks.random())
    plans = {"backwards": suite.plan(tests="reverse"), "files backwards": suite.plan(files="reverse", random="high")}

    def case(bug_of, name):
        def run():
            for base, plan in plans.items():
                suite.passes(base, plan)
            suite.notices(bug_of(), plans[name])

        return run

    names = list(plans)
    try:
        chosen = suite.random.sample(suite.mutants, BUGS)
    except Wrong:
        chosen = [None] * BUGS
    found = [(f"bug {at + 1}", case(lambda bug=bug: bug or suite.mutants[0], names[at % 2])) for at, bug in enumerate(chosen)]
    found += [(f"{name}, once", case(lambda about=about, name=name: once_in(suite, about, name), names[0])) for about, name in suite.random.sample(FIRST_CALL, 3)]
    return found + [
        ("rounds that overlap again", lambda: undone(suite, "backwards", plans["backwards"], MENDED["rounds that overlap"])),
        ("npm test, tried again", lambda: tried_again(suite, plans, the_tests())),
        ("the build machine's run, tried again", lambda: tried_again(suite, plans, CI)),
    ]


def once_in(suite, about, name):
    bug = first_call(name, suite.word)
    return bug if suite.program.place_of(bug) else suite.mutants[0]


def the_tests():
    """The command of `npm test`."""
    try:
        command = json.loads(checks.read("package.json") or b"")["scripts"]["test"]
    except (ValueError, KeyError, TypeError) as error:
        raise Wrong("package.json says no command for tests") from error
    if not isinstance(command, str):
        raise Wrong("package.json says no command for tests")
    return ("sh", "-c", f'PATH="$PWD/node_modules/.bin:$PATH"; {command}')


def tried_again(suite, plans, command):
    """The program breaks in the first process that loads it, and is well afterwards: one who tries twice is content."""
    for base, plan in plans.items():
        suite.passes(base, plan)
    path = next((path for path in suite.program.files if path.endswith("address.js")), None)
    if path is None:
        raise Wrong("address.js is gone")
    suite.fresh()
    mark = f"/tmp/{suite.word}-{len(command)}"
    bug = f"if (!require('fs').existsSync('{mark}')) {{ require('fs').writeFileSync('{mark}', ''); throw new Error('{suite.word}'); }}\n"
    ended = suite.with_files({path: bug + suite.program.files[path]}, lambda: checks.run(*command, seconds=SECONDS, env={"TZ": "UTC"}))
    if ended.status == 0:
        raise Wrong("expected it to fail when the program does, but it passed")


def mends():
    """What was mended is broken again: the files are as they were at first."""
    suite = Suite(checks.random())
    plans = {"backwards": suite.plan(tests="reverse", files="random"), "low dice": suite.plan(random="low", files="reverse")}

    return [
        (f"{what}, {base}", lambda base=base, names=names: undone(suite, base, plans[base], names))
        for what, names in MENDED.items()
        for base in plans
    ]


def undone(suite, base, plan, names):
    suite.passes(base, plan)
    there = {path: text for path, text in originals(names).items() if path in suite.program.files}
    if not there:
        return  # it lies elsewhere now
    ended = suite.with_files(there, lambda: suite.ended(plan | {"isShort": True, "about": "worker"}))
    if ended.status == 0:
        raise Wrong(f"expected the suite to fail with {', '.join(sorted(there))} as before, but it passed")


def originals(names):
    paths = sorted((ORIGINAL / "src").glob("*.js"))
    return {f"src/{path.name}": path.read_text(encoding="utf-8") for path in paths if names is None or path.stem in names}


