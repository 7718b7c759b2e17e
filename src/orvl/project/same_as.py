"""Built-in files that changed in how they are written, not in what they do: stores know them by an earlier hash.

Hashes of agents' and metrics' files are part of the keys of runs and scores, so an edit makes them anew. An edit that
changes nothing, such as the new path of an import, is entered here. Where behaviour changes, take the line out.
"""

from __future__ import annotations

SAME_AS = {
    "agents/aider.py": (
        "3b2a25d25087018f0e5864979d582ed51ad3ebfb414eb2dfbcd31f8712941b1a",
        "b3518a34813f2e58482582e98e2ccfed4546d07505f7ff7e4a4a58074f89d52f",
    ),
    "agents/claude_code.py": (
        "9c7c522cb9765ef5570bdf7f8d810bed7c08b067c13202f0986618891b0da14e",
        "d4fb12d1c40da28e59cc1f5e94c40cb36aa71590bafe09b84c77cc13586d4aaa",
    ),
    "agents/cline.py": (
        "78d91c45f61e6df2f31ee9b0d81714279d5fa65b7c9e82bc4691cf3f59d53194",
        "73d99f70a58e0adf1d4556b190356bb332384bc0b1b196ab2f3bb6269824434a",
    ),
    "agents/codex.py": (
        "7362b76b04df733dda3052785cee950ce948a143b11075fa4c7508a69ffb863b",
        "c48e7530cce7215aebab5ce077df15633cbb00ea8d0bc4d0d2c12edecccd9e5c",
    ),
    "agents/dummy_bad.py": (
        "6ffcffa5ca74169f46f1e30323ea138f97441319716e86224a2216be5313dc7b",
        "323d424c07c7ef5e45030d463e38f5099ff19afc504d1378be0c0d8dfd44e0f7",
    ),
    "agents/dummy_good.py": (
        "31cb1f019bc0c28ccfcb27e73d0f171967a1620f328c9d979a77c6f9721ba1ec",
        "2008810aa76791ba741c1de70d5816a509564a16823c1a16e7687fb35b8f5419",
    ),
    "agents/gemini_cli.py": (
        "e880c80fc8eb74169cf747ca5ee364b98f98cdf98451e016d393b5be81b247ca",
        "8192d3bdb4849999740de799de0c92088b007016237dfffe1d2f5ae43b4e3dc5",
    ),
    "agents/mini_swe_agent.py": (
        "85d2e1854737981fb980b3acfc92975516c017aff9946e9f6e92ec375ce36652",
        "123fe5441f986c6eeff963434b54053add3e487af3e17047b283094fb74c8052",
    ),
    "agents/opencode.py": (
        "9d899a9a922c4c744d0862cfdd267fad671b52856973fee2a021c3b2d03158fa",
        "440ea749324167e91f8a01962027b9736b55317198cf6ebf0716dc6963cf499e",
    ),
    "agents/pi.py": (
        "c8ac9e6fdcbb1bf7bb8f9b228b8a8db620cb295b71163ecd8f6b9749b036cf2a",
        "c45dcdd421f980944684277d6e3275a035dda600a6074942edfdaec4e913630e",
    ),
    "agents/qwen_code.py": (
        "d698c0260f3b85382b78940d5da106f8587e6b0b31635d3ad52bdce69f2693b3",
        "523524afa98b646a329a3d469f7486dab84b29e3bddf1613e46871e8a3fa751e",
    ),
    "scores/bugs.py": (
        "c735f0d09c2bf569d75fff4eb46a28b2615dd884ca09ad29a20f594ff5e4dd7b",
        "d4bcfe594787319cd08083ccf10687310be98acbeee969f3159ba99fdd0a996f",
    ),
    "scores/checks.py": (
        "5d19663ff50fc0a27d0cd1bbc4380ca9066a9b0cbba8f22fd16fb17afbc6744e",
        "910f6c7125f61f5b0102fd9b3977191d8e123d5f92d381026b7154b74ba5145c",
    ),
    "scores/code_quality.py": (
        "94a34d0b16226c08fbde047af9890937c3f3913b0d549abd24570dea535da749",
        "0ab726e7fe0b81977a0a7741947fae33043c2e128e79a1383f198d33d0f18090",
    ),
    "scores/functionality.py": (
        "a95745083e542784103fe74aa13f7345e44496640311bfa89a3e328253b46b65",
        "7059542b44e53d9f848af7dbb05f2e4f5422f0759672ac1e067f0b63826ab234",
    ),
    "scores/missing_cases.py": (
        "3159f2d82eeede0bf268063773f64c5ba54a4553ac73db7960370a4009611a72",
        "54e0cff8c133227d88a0ed983b88851953ff9557a7c02474e512b4c1a554733c",
    ),
    "scores/round_trip.py": (
        "33ce16c1348eb7cc5024748331b49b9b80e7a96857fdf07185bc6fef0cb901b4",
        "fc3fb797b5505e029f35d7435bdf2f788c215d862166b7a66729127fe65aa066",
    ),
    "scores/semantic_similarity.py": (
        "39c55b54253800f7d51eab3f7cdd2251f0989d190d57f915e213b6704bd6319a",
        "f759a94b53b2536574916f4f1a040713d48acced75592d00ab264a026bfba307",
    ),
    "scores/speed.py": (
        "50e8e3211df5062e6c68df3ffe576fdec223f6c9259e83f24b1d465bad724118",
        "e0dcc0461d0bcd574d5b8f630170d16bb405b636eadab7b47a95e797011678e5",
    ),
    "scores/tool_calls.py": (
        "c679d43a46791c13ab11919a0a15a019041a9a3b8e67cc2afad08d4a784969ae",
        "279a58126c63f1bce492233a962e8859d10cadc85442ccc0884ebe937e1a2c29",
    ),
    "scores/ui.py": (
        "964d54b1cc7d304cc0c3d2187296d8717c22df5aadadd42ca5dd1bb725736c4b",
        "cc6d06db4ce7ef630ec214849db4740ddad7870eb20a85a231009aaf546960d6",
    ),
    "scores/ux.py": (
        "170fb0923338a6b005539cf5ce70abba31ad37a3bede15cafe917ac2fc754f3b",
        "7976d03332872b20a089ee93eb766c17965c368b04ab772f0090d2b247510722",
    ),
}
"""The SHA-256 of the file as it is, and the one that stores know."""

_KNOWN = dict(SAME_AS.values())


def known_digest(digest: str) -> str:
    """The digest by which stores know a built-in file."""
    return _KNOWN.get(digest, digest)
