"""What is read without pydantic is what pydantic reads, and pydantic decides where there is any doubt."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from orvl.project.front_matter import EvalSettings
from orvl.project.overlays import OverlaySettings
from orvl.project.settings import Settings
from orvl.project.validation import _adapter, _conforming

RIGHT = [
    (Settings, {}),
    (Settings, {"penalty": 1, "quorum": 0.25, "episodes": 3, "variance": "unbiased", "store": "x", "local": {}}),
    (Settings, {"judges": {"a": {"model": "x", "weight": 2, "answers": ["yes", "no"], "options": {"t": [1, None]}}}}),
    (Settings, {"judges": {"a": {"answers": {"m": "no", "n": ["yes"]}, "looks": 3, "protocol": "openai"}}}),
    (Settings, {"limits": {"turn": 5, "open_files": 64}, "sandbox": {"use": "podman", "paths": ["/x"]}}),
    (
        Settings,
        {"providers": {"z": {"protocol": ["openai"], "timeout": 3, "prices": {"m": {"input": 1, "output": 2.5}}}}},
    ),
    (Settings, {"agents": {"o": {"models": {"zen": ["a"], "groq": {"a": "b"}}}}}),
    (EvalSettings, {"metrics": {"checks": 3, "speed": 0.5}, "checks": [{"name": "n", "run": "r", "limit": 2}]}),
    (EvalSettings, {"app": {"start": "npm"}, "steps": ["open /"], "network": "registries", "par": {"speed": 10}}),
    (OverlaySettings, {"env": {"A": "1"}, "arguments": ["-x"], "agents": ["*"], "description": "d"}),
]
DOUBTFUL = [
    (Settings, []),
    (Settings, {"penalty": -0.1}),
    (Settings, {"penalty": math.nan}),
    (Settings, {"penalty": True}),
    (Settings, {"penalty": "1"}),
    (Settings, {"episodes": 1.0}),
    (Settings, {"episodes": 0}),
    (Settings, {"variance": "other"}),
    (Settings, {"unknown": 1}),
    (Settings, {"judges": {"a": {"answers": 1}}}),
    (Settings, {"judges": {"a": {"answers": ["yes", True]}}}),
    (Settings, {"providers": {"z": {"prices": {"m": {"input": 1}}}}}),
    (EvalSettings, {"checks": [{"name": " ", "run": "r"}]}),
    (EvalSettings, {"metrics": {1: 2}}),
    (EvalSettings, {"network": ["registries"]}),
]


@pytest.mark.parametrize(("model", "data"), RIGHT)
def test_what_is_right_is_read_as_pydantic_reads_it(model, data):
    assert repr(_conforming(model, data)) == repr(_adapter(model).validate_python(data))


@pytest.mark.parametrize(("model", "data"), DOUBTFUL)
def test_what_is_doubtful_is_left_to_pydantic(model, data):
    with pytest.raises(TypeError):
        _conforming(model, data)


def test_listing_built_in_files_imports_nothing_heavy(tmp_path):
    code = "import sys, orvl.cli\ntry: orvl.cli.main()\nexcept SystemExit: print(*sys.modules, file=sys.stderr)"
    words = ["list", "--project", str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert not {"numpy", "pydantic", "rich", "importlib.metadata", "orvl.gateway"} & set(done.stderr.split())
