"""Exercism exercises as evals of the tier smoke: tests hidden and graded, the example as the good control."""

from __future__ import annotations

import json
import shutil

import pytest

from helpers.harbor_tasks import write

PYTHON = {
    "leap.py": "def leap_year(year):\n    pass\n",
    "leap_test.py": """
        import unittest
        from leap import leap_year

        class LeapTest(unittest.TestCase):
            def test_not_by_4(self):
                self.assertIs(leap_year(2015), False)

            def test_by_4(self):
                self.assertIs(leap_year(1996), True)

            def test_by_100(self):
                self.assertIs(leap_year(2100), False)

            def test_by_400(self):
                self.assertIs(leap_year(2000), True)
        """,
    ".meta/example.py": "def leap_year(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n",
}
JAVASCRIPT = {
    "leap.js": "export const isLeap = () => {};\n",
    "leap.spec.js": "import { isLeap } from './leap';\ntest('a', () => {});\nxtest('b', () => {});\n",
    "package.json": "{}\n",
    ".meta/proof.ci.js": "export const isLeap = (y) => y % 4 === 0;\n",
}
GO = {
    "go.mod": "module leap\n\ngo 1.18\n",
    "leap.go": "package leap\n\nfunc IsLeapYear(year int) bool { panic(1) }\n",
    "leap_test.go": (
        'package leap\n\nimport "testing"\n\nfunc TestLeap(t *testing.T) {\n\tif !IsLeapYear(1996) {\n\t\tt.Fatal()\n\t}\n}\n'
    ),
    ".meta/example.go": "package leap\n\nfunc IsLeapYear(year int) bool { return year%4 == 0 }\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "leap"\nversion = "1.0.0"\nedition = "2021"\n\n[dependencies]\n',
    "src/lib.rs": 'pub fn is_leap_year(year: u64) -> bool { todo!("{year}") }\n',
    "tests/leap.rs": (
        "#[test]\nfn not_by_4() { assert!(!leap::is_leap_year(2015)); }\n"
        "#[test]\n#[ignore]\nfn by_4() { assert!(leap::is_leap_year(1996)); }\n"
    ),
    ".meta/example.rs": "pub fn is_leap_year(year: u64) -> bool { year % 4 == 0 }\n",
}
JAVA = {
    "build.gradle": "plugins { id 'java' }\n",
    "src/main/java/Leap.java": "class Leap {\n    boolean isLeapYear(int year) { throw new UnsupportedOperationException(); }\n}\n",
    "src/test/java/LeapTest.java": """
        import org.junit.jupiter.api.Disabled;
        import org.junit.jupiter.api.Test;
        import static org.assertj.core.api.Assertions.assertThat;

        public class LeapTest {
            @Test
            public void notByFour() { assertThat(new Leap().isLeapYear(2015)).isFalse(); }

            @Disabled("Remove to run test")
            @Test
            public void byFour() { assertThat(new Leap().isLeapYear(1996)).isTrue(); }
        }
        """,
    ".meta/src/reference/java/Leap.java": "class Leap {\n    boolean isLeapYear(int year) { return year % 4 == 0; }\n}\n",
}
CPP = {
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.5.1)
        project(leap CXX)
        add_executable(leap leap_test.cpp leap.cpp)
        if("${EXERCISM_RUN_ALL_TESTS}")
            target_compile_definitions(leap PRIVATE EXERCISM_RUN_ALL_TESTS)
        endif()
        add_custom_target(test_leap ALL DEPENDS leap COMMAND leap)
        """,
    "leap.h": "#pragma once\nbool is_leap_year(int year);\n",
    "leap.cpp": '#include "leap.h"\nbool is_leap_year(int) { return false; }\n',
    # As Catch says it, without its half a megabyte.
    "leap_test.cpp": """
        #include "leap.h"
        #include <cstdio>
        #define TEST_CASE(name) static bool run_##name()
        TEST_CASE(not_by_4) { return !is_leap_year(2015); }
        #if defined(EXERCISM_RUN_ALL_TESTS)
        TEST_CASE(by_4) { return is_leap_year(1996); }
        #else
        static bool run_by_4() { return true; }
        #endif
        int main() {
            int passed = run_not_by_4() + run_by_4();
            if (passed == 2) std::puts("All tests passed (2 assertions in 2 test cases)");
            else std::printf("test cases: 2 | %d passed | %d failed\\n", passed, 2 - passed);
            return passed != 2;
        }
        """,
    ".meta/example.cpp": '#include "leap.h"\nbool is_leap_year(int year) { return year % 4 == 0; }\n',
    ".meta/example.h": "#pragma once\nbool is_leap_year(int year);\n",
}
TRACKS = {
    "python": (PYTHON, ["leap.py"], ["leap_test.py"], [".meta/example.py"]),
    "javascript": (JAVASCRIPT, ["leap.js"], ["leap.spec.js"], [".meta/proof.ci.js"]),
    "go": (GO, ["leap.go"], ["leap_test.go"], [".meta/example.go"]),
    "rust": (RUST, ["src/lib.rs", "Cargo.toml"], ["tests/leap.rs"], [".meta/example.rs"]),
    "java": (
        JAVA,
        ["src/main/java/Leap.java"],
        ["src/test/java/LeapTest.java"],
        [".meta/src/reference/java/Leap.java"],
    ),
    "cpp": (CPP, ["leap.cpp", "leap.h"], ["leap_test.cpp"], [".meta/example.cpp", ".meta/example.h"]),
}
PROGRAMS = {"python": "python3", "go": "go", "rust": "cargo", "java": "javac", "cpp": "cmake", "javascript": "npm"}


def exercise(root, track: str):
    files, solution, test, example = TRACKS[track]
    config = {"authors": ["a"], "files": {"solution": solution, "test": test, "example": example}, "blurb": "b"}
    return write(
        root / track / "exercises" / "practice" / "leap",
        {".meta/config.json": json.dumps(config), ".docs/instructions.md": "# Leap\n\nIs it a leap year?\n", **files},
    )


def imported(project, folder, status: int = 0):
    project.toml("[metrics]\nchecks = 1\n")
    result = project.orvl("import", "polyglot", str(folder), "--json")
    assert result.status == status, result.err
    return result.json["tasks"]


def ratings(project, name: str, *agents: str) -> dict[str, float]:
    result = project.orvl(",".join(agents), "--eval", name, "--json", timeout=400)
    assert result.status == 0, result.err
    return {row["agent"]: row["R"] for row in result.json["ratings"]}


def test_an_exercise_hides_its_tests_and_counts_them(project, tmp_path):
    exercise(tmp_path, "python")
    (row,) = imported(project, tmp_path)
    assert (row["eval"], row["words"]) == ("python-leap", ["4 hidden tests", "no licence was found"])
    project.agent(
        "half",
        """
        models = {"none": ["m"]}
        def command(): return ["sh", "-c", "ls -R; echo 'def leap_year(year): return year % 4 == 0' > leap.py"]
        """,
    )
    project.agent(
        "liar",
        """
        models = {"none": ["m"]}
        def command(): return ["sh", "-c", "echo 'import os; os._exit(0)' > leap.py; echo 'x = 1' > leap_test.py"]
        """,
    )
    R = ratings(project, "python-leap", "dummy-good", "empty", "half", "liar")
    assert R == {"dummy-good": 1, "empty": 0, "half": 0.75, "liar": 0}
    seen = project.orvl("show", "half/python-leap/1", "--output").out
    assert "leap.py" in seen and "test" not in seen and "example" not in seen
    text = (project.root / "evals/python-leap/eval.md").read_text()
    assert "tier: smoke\n" in text and "Write the solution into `leap.py`." in text


@pytest.mark.parametrize("track", ["rust", "cpp", "go", "java"])
def test_other_languages_where_their_programs_are(project, tmp_path, track):
    project.toml("[metrics]\nchecks = 1\n")
    if shutil.which(PROGRAMS[track]) is None:
        (row,) = imported(project, exercise(tmp_path, track), status=1)
        assert row["words"] == [f"{PROGRAMS[track]} is not installed here"] or "sudo apt install" in row["words"][0]
        return
    (row,) = project.orvl("import", "polyglot", str(exercise(tmp_path, track)), "--json").json["tasks"]
    if row["status"] == "refused":
        assert "sudo apt install" in row["words"][0]
        pytest.skip(row["words"][0])
    R = ratings(project, row["eval"], "dummy-good", "empty")
    assert R["dummy-good"] == 1, project.orvl("show", f"dummy-good/{row['eval']}/1").out
    assert R["empty"] < 1


@pytest.mark.skipif(shutil.which("npm") is None, reason="needs npm")
def test_javascript_gets_its_tools_from_the_setup(project, tmp_path):
    (row,) = imported(project, exercise(tmp_path, "javascript"))
    own = project.root / "evals" / row["eval"]
    assert "setup: npm install --no-audit --no-fund\nnetwork: setup\n" in (own / "eval.md").read_text()
    assert (
        (own / "checks/tests/files/leap.spec.js").read_text().endswith("test('a', () => {});\ntest('b', () => {});\n")
    )
    assert json.loads((own / "checks/tests/expected.json").read_text())["tests"] == 2
    assert (own / "controls/good/leap.js").exists()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({".meta/config.json": "{"}, ".meta/config.json is not JSON"),
        ({".meta/config.json": "[" * 20_000}, ".meta/config.json is not JSON"),
        ({".meta/config.json": "{}"}, ".meta/config.json names no files"),
        (
            {".meta/config.json": '{"files": {"solution": ["../../x"], "test": ["y"]}}'},
            "names '../../x', which is not there",
        ),
        ({".meta/config.json": '{"files": {"solution": ["leap.py"], "test": []}}'}, "names no test files"),
        (
            {".meta/config.json": '{"files": {"solution": "leap.py"}}'},
            "'solution' of .meta/config.json is no list of files",
        ),
        ({"leap_test.py": "nothing\n"}, "no test was found in its test files"),
        (
            {".meta/config.json": '{"files": {"solution": ["a.hs"], "test": ["leap_test.py"]}}', "a.hs": "x"},
            "orvl does not know how to test .hs files",
        ),
    ],
)
def test_exercises_that_cannot_be_told_are_refused(project, tmp_path, files, words):
    (row,) = imported(project, write(exercise(tmp_path, "python"), files), status=1)
    assert words in row["words"][0]


def test_a_program_that_is_missing_is_named(project, tmp_path):
    exercise(tmp_path, "go")
    result = project.orvl("import", "polyglot", str(tmp_path), "--json", env={"PATH": "/nowhere"}, process=True)
    assert result.json["tasks"][0]["words"] == ["go is not installed here"]
    assert "There is no task in" in project.orvl("import", "polyglot", str(project.root)).err
