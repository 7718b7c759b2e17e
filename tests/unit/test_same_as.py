"""Runs and scores in stores are keyed by the hashes of built-in files: these hashes stay."""

from __future__ import annotations

import hashlib

import pytest

from orvl.project.find import BUILT_IN, SourceFile, find
from orvl.project.same_as import SAME_AS

KNOWN = {
    "agents/aider.py": "b3518a34813f2e58482582e98e2ccfed4546d07505f7ff7e4a4a58074f89d52f",
    "agents/claude_code.py": "d4fb12d1c40da28e59cc1f5e94c40cb36aa71590bafe09b84c77cc13586d4aaa",
    "agents/cline.py": "73d99f70a58e0adf1d4556b190356bb332384bc0b1b196ab2f3bb6269824434a",
    "agents/codex.py": "c48e7530cce7215aebab5ce077df15633cbb00ea8d0bc4d0d2c12edecccd9e5c",
    "agents/dummy_bad.py": "323d424c07c7ef5e45030d463e38f5099ff19afc504d1378be0c0d8dfd44e0f7",
    "agents/dummy_good.py": "2008810aa76791ba741c1de70d5816a509564a16823c1a16e7687fb35b8f5419",
    "agents/empty.py": "a5a38060b223739e6534f53c955e6fcfc15fad611efdc6b73a900f652f7d9f30",
    "agents/gemini_cli.py": "8192d3bdb4849999740de799de0c92088b007016237dfffe1d2f5ae43b4e3dc5",
    "agents/kilo.py": "40c3d405520e3a21fe1f0aef54dcb57d97c6781f9d022c56382aadbbccbe9728",
    "agents/mini_swe_agent.py": "123fe5441f986c6eeff963434b54053add3e487af3e17047b283094fb74c8052",
    "agents/opencode.py": "440ea749324167e91f8a01962027b9736b55317198cf6ebf0716dc6963cf499e",
    "agents/opencode_acp.py": "491a9f57e6036d7a2b7e6859f2e45383d8060f67e2e71deaa9c241c43cdbb3b3",
    "agents/pi.py": "c45dcdd421f980944684277d6e3275a035dda600a6074942edfdaec4e913630e",
    "agents/qwen_code.py": "523524afa98b646a329a3d469f7486dab84b29e3bddf1613e46871e8a3fa751e",
    "scores/adherence.py": "a6f714bcc0556a027e99cfa79ea970778706b94a3bb9cfed2206a09ee2e48d41",
    "scores/bugs.py": "d4bcfe594787319cd08083ccf10687310be98acbeee969f3159ba99fdd0a996f",
    "scores/checks.py": "910f6c7125f61f5b0102fd9b3977191d8e123d5f92d381026b7154b74ba5145c",
    "scores/code_quality.py": "0ab726e7fe0b81977a0a7741947fae33043c2e128e79a1383f198d33d0f18090",
    "scores/cost.py": "1dd9e008daa934a5de4dc7e1834cf2657f89a23487d99c8def30eda1502f376d",
    "scores/functionality.py": "7059542b44e53d9f848af7dbb05f2e4f5422f0759672ac1e067f0b63826ab234",
    "scores/missing_cases.py": "54e0cff8c133227d88a0ed983b88851953ff9557a7c02474e512b4c1a554733c",
    "scores/readability.py": "ea5925e3221896c4b05da60bda2fb0671e37d20821b9aa4213fd37e4540c1230",
    "scores/round_trip.py": "fc3fb797b5505e029f35d7435bdf2f788c215d862166b7a66729127fe65aa066",
    "scores/scope.py": "a25addea1b5cde7da78cb8fcb12aaf7ce9ae781c590a8d86a1579697cd52cc7c",
    "scores/semantic_similarity.py": "f759a94b53b2536574916f4f1a040713d48acced75592d00ab264a026bfba307",
    "scores/speed.py": "e0dcc0461d0bcd574d5b8f630170d16bb405b636eadab7b47a95e797011678e5",
    "scores/tokens.py": "def1aa19e31831789f7efe5520e693c9811431c2887be0d374929795f3f3c941",
    "scores/tool_calls.py": "279a58126c63f1bce492233a962e8859d10cadc85442ccc0884ebe937e1a2c29",
    "scores/ui.py": "cc6d06db4ce7ef630ec214849db4740ddad7870eb20a85a231009aaf546960d6",
    "scores/ux.py": "7976d03332872b20a089ee93eb766c17965c368b04ab772f0090d2b247510722",
}
"""What stores know, in the files' first form; a new file is added, one whose behaviour changes gets its new hash."""


@pytest.mark.parametrize("name", KNOWN)
def test_a_built_in_file_keeps_the_hash_that_stores_know(name):
    path = BUILT_IN / name
    now = hashlib.sha256(path.read_bytes()).hexdigest()
    line = f'    "{name}": ("{now}", "{KNOWN[name]}"),'
    file = SourceFile(path.stem, path, "built-in")
    assert file.digest == KNOWN[name], f"{name} changed. If it does what it did, put into project/same_as.py:\n{line}"
    assert name not in SAME_AS or SAME_AS[name][0] == now, f"{name} is as it was: take its line out of same_as.py"


def test_every_built_in_file_has_a_known_hash(tmp_path):
    files = {file.path for kind in ("agents", "scores") for file in find(tmp_path, kind).values()}
    assert {path.relative_to(BUILT_IN).as_posix() for path in files} == set(KNOWN)
    assert set(SAME_AS) <= set(KNOWN)


def test_a_projects_file_has_its_own_hash(tmp_path):
    (tmp_path / "agents").mkdir()
    path = tmp_path / "agents" / "opencode.py"
    path.write_bytes((BUILT_IN / "agents" / "opencode.py").read_bytes())
    assert find(tmp_path, "agents")["opencode"].digest == hashlib.sha256(path.read_bytes()).hexdigest()
