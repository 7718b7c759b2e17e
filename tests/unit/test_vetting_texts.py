"""What the gate of evals reads in files and on connections: texts in old encodings, and connections that are used again."""

from __future__ import annotations

import base64

import pytest

from orvl.trust.vetting.check_code import CheckCode
from orvl.trust.vetting.inputs import decoded, spoken
from orvl.trust.vetting.known_text import KnownText
from orvl.trust.vetting.needed_words import NeededWords, words_in

SENT = (
    b"POST /swaps HTTP/1.1\r\nContent-Length: 12\r\n\r\n"
    b'{"shift": 7}POST /swaps/5/undo HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET /staff HTTP/1.1\r\n\r\n'
)
RECEIVED = b'HTTP/1.1 201 Created\r\n\r\n{"state": "asked"}HTTP/1.1 409 Conflict\r\n\r\n{"error": "gone"}'
CODE = b'KEYS = ["shift", "state", "undo", "swaps", "staff", "asked", "Created"]\n'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_names_in_files_of_any_encoding_are_known(encoding):
    content = "Karte;Kunde\n7;Größler, Zoë\nMAIL79@X.EXAMPLE\n".encode(encoding)
    known = KnownText((), {"till.csv": content})
    assert known.says("Größler") and known.says("mail79")
    assert not known.says("Klein")
    assert "Größler" in decoded(base64.b64encode(content).decode())


def test_what_is_no_text_says_nothing():
    assert not KnownText((), {"logo.png": b"\x89PNG\0 Kunde \0"}).says("Kunde")


def test_a_connection_that_is_used_again_has_several_requests():
    assert list(spoken(SENT)) == [("/swaps", "7"), ("/swaps/5/undo",), ("/staff",)]
    needed = NeededWords(CheckCode({"check.py": CODE}), [])
    needed._connection(SENT, RECEIVED)
    assert {"shift", "swaps", "undo", "staff"} <= needed.asked
    assert {"state", "asked", "gone"} <= needed.told
    assert "Created" not in needed.told, "a head is no answer"
    assert needed.statuses == {201, 409}


@pytest.mark.parametrize("sent", [b"", b"PING\n"])
def test_what_is_no_request_asks_for_nothing(sent):
    needed = NeededWords(CheckCode({}), [])
    needed._connection(sent, b"")
    assert list(spoken(sent)) == [(sent.decode(),)]
    assert not needed.asked and not needed.statuses


def test_a_number_with_letters_in_it_is_no_word():
    assert words_in("7c19e news:7d02b keeps-notes _hidden --flag x9") == {
        "news",
        "keeps-notes",
        "_hidden",
        "--flag",
        "flag",
        "x9",
    }
