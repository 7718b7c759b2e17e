"""The verifier of an exercise: lays the hidden tests over the work, runs them, and writes the share that passed.

It runs beside the agent's code, with the sandbox's own `python3` and nothing of orvl around it. `expected.json` beside
it has the language, the test files, and how many tests there are: tests that are not seen to pass have failed.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
REWARD = "/logs/verifier/reward.txt"
BUILT = "/tmp/built"
UNITTEST = """
import json, sys, unittest
class Result(unittest.TextTestResult):
    passed = []
    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed.append(test.id())
suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
unittest.TextTestRunner(stream=sys.stdout, resultclass=Result).run(suite)
print("\\npassed", json.dumps(sorted(set(Result.passed))))
"""


def said(*command: str) -> str:
    """What a command prints; it is shown, too."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode("utf-8", "replace")
    print(text[-20000:], flush=True)
    return text


def python(files: list[str]) -> int:
    modules = [name[: -len(".py")].replace("/", ".") for name in files]
    text = said(sys.executable, "-c", UNITTEST, *modules)
    last = re.findall(r"^passed (\[.*\])$", text, re.MULTILINE)
    return len(json.loads(last[-1])) if last else 0


def javascript(files: list[str]) -> int:
    out = "/tmp/jest.json"
    said("npx", "--no-install", "jest", "--json", "--outputFile=" + out, *files)
    with open(out, encoding="utf-8") as file:
        return int(json.load(file)["numPassedTests"])


def go(_files: list[str]) -> int:
    events = [json.loads(line) for line in said("go", "test", "-json", "./...").splitlines() if line.startswith("{")]
    return len({event["Test"] for event in events if event.get("Action") == "pass" and "Test" in event})


def rust(_files: list[str]) -> int:
    text = said("cargo", "test", "--offline", "--", "--include-ignored")
    return len(set(re.findall(r"^test (\S+)(?: - should panic)? \.\.\. ok$", text, re.MULTILINE)))


def java(_files: list[str]) -> int:
    jars = ":".join(glob.glob("/usr/share/java/*.jar"))
    sources = glob.glob("src/main/java/**/*.java", recursive=True) + glob.glob(
        "src/test/java/**/*.java", recursive=True
    )
    said("javac", "-encoding", "UTF-8", "-cp", jars, "-d", BUILT, *sources)
    console = "org.junit.platform.console.ConsoleLauncher"
    said("java", "-cp", BUILT + ":" + jars, console, "--scan-classpath", BUILT, "--reports-dir", "/tmp/reports")
    passed = 0
    for report in glob.glob("/tmp/reports/TEST-junit-jupiter.xml"):
        cases = xml.etree.ElementTree.parse(report).getroot().findall("testcase")
        passed += sum(not any(case.find(tag) is not None for tag in ("failure", "error", "skipped")) for case in cases)
    return passed


def cpp(_files: list[str]) -> int:
    """The build runs the tests as its last step; its output has the cases, or that all of them passed."""
    said("cmake", "-S", ".", "-B", BUILT, "-DEXERCISM_RUN_ALL_TESTS=1")
    text = said("cmake", "--build", BUILT)
    if match := re.search(r"^All tests passed \(.* in (\d+) test cases?\)$", text, re.MULTILINE):
        return int(match[1])
    match = re.search(r"^test cases:\s*\d+ \|\s*(\d+) passed", text, re.MULTILINE)
    return int(match[1]) if match else 0


LANGUAGES = {"python": python, "javascript": javascript, "go": go, "rust": rust, "java": java, "cpp": cpp}


def main() -> None:
    with open(os.path.join(HERE, "expected.json"), encoding="utf-8") as file:
        expected = json.load(file)
    for name in expected["files"]:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        if os.path.lexists(name) and not os.path.isfile(name):
            shutil.rmtree(name, ignore_errors=True)
        if os.path.islink(name):
            os.unlink(name)
        shutil.copyfile(os.path.join(HERE, "files", name), name)
    try:
        passed = LANGUAGES[expected["language"]](expected["files"])
    except (OSError, ValueError, LookupError) as error:
        print(f"the tests could not be run: {error!r}")
        passed = 0
    print(f"{passed} of {expected['tests']} tests passed")
    with open(REWARD, "w", encoding="ascii") as file:
        file.write(str(min(1.0, passed / expected["tests"])))


if __name__ == "__main__":
    main()
