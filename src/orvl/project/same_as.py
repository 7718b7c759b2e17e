"""Built-in files that changed in how they are written, not in what they do: stores know them by an earlier hash.

Hashes of agents' and metrics' files are part of the keys of runs and scores, so an edit makes them anew. An edit that
changes nothing, such as the new path of an import, is entered here. Where behaviour changes, take the line out.
"""

from __future__ import annotations

SAME_AS = {
    "agents/aider.py": (
        "dc795da03664f949739140f2f383e07dae962936e272a82089d9f7ec1d13739c",
        "b3518a34813f2e58482582e98e2ccfed4546d07505f7ff7e4a4a58074f89d52f",
    ),
    "agents/claude_code.py": (
        "6d1f66d0be6a3e5b10c9a4be8dfe01ec9793b5a47577ea134a717df5b3622084",
        "d4fb12d1c40da28e59cc1f5e94c40cb36aa71590bafe09b84c77cc13586d4aaa",
    ),
    "agents/cline.py": (
        "3e96c9b9416d21f1220a550cddc306205a6ccf411883807ac8a8aa556295d9f5",
        "73d99f70a58e0adf1d4556b190356bb332384bc0b1b196ab2f3bb6269824434a",
    ),
    "agents/codex.py": (
        "baad726a14eeba4ebe40ff11b392c7486ac3c2f7075e88269f6adcd2520abebb",
        "c48e7530cce7215aebab5ce077df15633cbb00ea8d0bc4d0d2c12edecccd9e5c",
    ),
    "agents/gemini_cli.py": (
        "69765064c756870380f42c0bf12b085792ada0dee888d41c3e651222a1ea40bf",
        "8192d3bdb4849999740de799de0c92088b007016237dfffe1d2f5ae43b4e3dc5",
    ),
    "agents/mini_swe_agent.py": (
        "4590019b629b7954ed5245872783d983422397a7cdfc18d3843409e9c03e8927",
        "123fe5441f986c6eeff963434b54053add3e487af3e17047b283094fb74c8052",
    ),
    "agents/opencode.py": (
        "83d5502e8779f3216b17fadb09e0b457e986bfe89ccc46b5b6cd84a649ed308a",
        "440ea749324167e91f8a01962027b9736b55317198cf6ebf0716dc6963cf499e",
    ),
    "agents/pi.py": (
        "d7b951ea4e67a91a9ff0646691344c3b20188fd826046f79b29bb3c1586f8974",
        "c45dcdd421f980944684277d6e3275a035dda600a6074942edfdaec4e913630e",
    ),
    "agents/qwen_code.py": (
        "bed22f93ec2fbbe67404724be7a8c050f913764805dc314c0fe5420be8c62af8",
        "523524afa98b646a329a3d469f7486dab84b29e3bddf1613e46871e8a3fa751e",
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
