"""What is installed from a wheel is whole and works."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

MADE_ONCE = ("wheel",)

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    """A wheel, built without the network from a copy of the tracked files."""
    copy = tmp_path_factory.mktemp("source")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    code = "import sys; from flit_core.buildapi import build_wheel; print(build_wheel(sys.argv[1]))"
    out = tmp_path_factory.mktemp("wheel")
    done = subprocess.run([sys.executable, "-c", code, str(out)], cwd=copy, capture_output=True, text=True, check=True)
    return out / done.stdout.strip()


def test_the_wheel_holds_evals_controls_and_types(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "orvl/py.typed",
        "orvl/evals/hello-world/eval.md",
        "orvl/evals/hello-world/controls/good/turn-2/hello.py",
        "orvl/evals/fix-slugs/workspace/AGENTS.md",
        "orvl/evals/fix-slugs/checks/check.py",
        "orvl/evals/kitchen-converter/controls/ugly/style.css",
        "orvl/evals/room-bookings/workspace/.editorconfig",
        "orvl/evals/tidy-invoice/controls/bugs/01-pays-at-exactly-a-hundred.patch",
        "orvl/evals/tidy-invoice/workspace/orders/R-17.json",
        "orvl/sandbox/guard/serve.py",
        "orvl/web/static/orvl.css",
        "orvl/web/static/orvl.js",
    } <= names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def test_an_installed_wheel_runs_the_controls_under_the_same_keys(wheel, project, tmp_path):
    """Installers compile Python files, also those of controls and workspaces: that must not change a run."""
    target = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(target)], check=True)
    assert list((target / "orvl/evals/hello-world/controls/good").glob("*/__pycache__/*.pyc"))
    words = ("dummy-good,empty", "fixed", "none", "hello-world,fix-slugs", "--dry-run", "--json")
    here = project.orvl(*words).json["plan"]["runs"]
    there = project.orvl(*words, env={"PYTHONPATH": str(target)})
    assert there.status == 0, there.err
    there = there.json["plan"]["runs"]
    assert sorted(run["run"] for run in here) == sorted(run["run"] for run in there)
    ran = project.orvl("dummy-good", "--eval=fix-slugs", "--json", env={"PYTHONPATH": str(target)})
    assert ran.status == 0, ran.err
    (good,) = ran.json["ratings"]
    assert good["metrics"]["checks"]["mean"] == 1.0
    assert "pycache" not in project.orvl("show", "dummy-good/fix-slugs/1", "--json").out
    assert not [line for line in project.orvl("show", "dummy-good/fix-slugs/1").out.splitlines() if "pyc" in line]
