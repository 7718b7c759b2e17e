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
    "scores/checks.py": (
        "5e32f355e9e1627fef2cee4155cae0722e1effa8573c83ed35ec5fbcb7537213",
        "910f6c7125f61f5b0102fd9b3977191d8e123d5f92d381026b7154b74ba5145c",
    ),
    "scores/round_trip.py": (
        "8233559b76474ff3717bc4744b7697b442f6f974b1fa8ec6f40b13d047549d58",
        "fc3fb797b5505e029f35d7435bdf2f788c215d862166b7a66729127fe65aa066",
    ),
    "scores/semantic_similarity.py": (
        "b85db1c665b4d0bf2997e041737c75f7f9268b187097446cb4103ce85c2665b5",
        "f759a94b53b2536574916f4f1a040713d48acced75592d00ab264a026bfba307",
    ),
}
"""The SHA-256 of the file as it is, and the one that stores know."""

_KNOWN = dict(SAME_AS.values())


def known_digest(digest: str) -> str:
    """The digest by which stores know a built-in file."""
    return _KNOWN.get(digest, digest)
