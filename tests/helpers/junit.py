"""What readers of JUnit XML accept: the rules of the schemas of Jenkins and Surefire, written down as tables."""

from __future__ import annotations

import re
from collections import Counter
from xml.etree import ElementTree as ET

OUTCOMES = ("failure", "error", "skipped")
CHILDREN = {
    "testsuites": ("testsuite",),
    "testsuite": ("properties", "testcase"),
    "properties": ("property",),
    "property": (),
    "testcase": (*OUTCOMES, "system-out"),
    "failure": (),
    "error": (),
    "skipped": (),
    "system-out": (),
}
"""Which elements may stand in which, in this order. Both schemas know more; orvl writes no others."""
ATTRIBUTES = {
    "testsuites": {"name": "text", "time": "seconds", "tests": "count", "failures": "count", "errors": "count"},
    "testsuite": {
        "name": "text",
        "time": "seconds",
        "tests": "count",
        "failures": "count",
        "errors": "count",
        "skipped": "count",
    },
    "properties": {},
    "property": {"name": "text", "value": "any"},
    "testcase": {"name": "text", "classname": "text", "time": "seconds"},
    "failure": {"message": "any", "type": "text"},
    "error": {"message": "any", "type": "text"},
    "skipped": {"message": "any", "type": "text"},
    "system-out": {},
}
REQUIRED = {
    "testsuite": ("name", "tests", "failures", "errors", "skipped"),
    "testcase": ("name", "classname"),
    "property": ("name", "value"),
    "failure": ("type",),
    "error": ("type",),
}
"""`time` is required by Surefire; orvl leaves it out where nobody knows it, which every reader takes."""
FORMS = {"text": r".+", "any": r"[\s\S]*", "count": r"\d+", "seconds": r"\d+\.\d{3}"}
MIXED = ("failure", "error", "system-out")
"""What may hold text of its own."""


def check(root: ET.Element) -> None:
    """Whether a document is one that Jenkins and Surefire take, and whether its counts are right."""
    assert root.tag == "testsuites"
    for element in root.iter():
        _check_element(element)
    for suite in root:
        assert sum(child.tag == "properties" for child in suite) <= 1
        names = [case.get("name") for case in suite.iter("testcase")]
        assert len(names) == len(set(names))
        for case in suite.iter("testcase"):
            assert case.get("classname") == suite.get("name")
            assert sum(child.tag in OUTCOMES for child in case) <= 1
            assert sum(child.tag == "system-out" for child in case) <= 1
    for counted in (root, *root):
        _check_counts(counted)


def _check_element(element: ET.Element) -> None:
    assert element.tag in CHILDREN, f"there is no element {element.tag}"
    order = [CHILDREN[element.tag].index(child.tag) for child in element]
    assert order == sorted(order), f"the children of {element.tag} are out of order"
    allowed = ATTRIBUTES[element.tag]
    assert set(element.attrib) <= set(allowed), f"{element.tag} has no {set(element.attrib) - set(allowed)}"
    assert set(REQUIRED.get(element.tag, ())) <= set(element.attrib), f"{element.tag} lacks an attribute"
    for name, value in element.attrib.items():
        assert re.fullmatch(FORMS[allowed[name]], value), f"{name} of {element.tag} is {value!r}"
    if element.tag not in MIXED:
        assert not (element.text or "").strip(), f"{element.tag} holds no text"


def _check_counts(counted: ET.Element) -> None:
    cases = list(counted.iter("testcase"))
    tags = Counter(child.tag for case in cases for child in case)
    assert int(counted.get("tests", -1)) == len(cases)
    for tag, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        assert counted.get(name) is None or int(counted.get(name, -1)) == tags[tag]
