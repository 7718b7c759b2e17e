"""/endpoints of the viewer, where models were really called."""

from __future__ import annotations

import csv
import io

from helpers.asker import KEY, prepared
from helpers.crawl import Markup
from helpers.viewing import viewing
from orvl.testing import Answer, ModelServer, Tokens


def test_endpoints_are_a_page_a_csv_and_markdown_with_the_same_figures(project):
    hello = Answer("Hello.", tokens=Tokens(input=60, output=40))
    with ModelServer([hello]) as server:
        prepared(project, server)
        assert project.orvl("asker", "--eval=one", "--sandbox=none", "--yes", env=KEY).status == 0
    with viewing(project) as viewer:
        text = "".join(Markup(viewer.get("/endpoints").text).data)
        assert "1 endpoint; something went wrong in 0 calls." in text
        assert viewer.get("/endpoints.json").json == project.orvl("endpoints", "--json").json
        rows = list(csv.reader(io.StringIO(viewer.get("/endpoints.csv").text)))
        figures = dict(zip(rows[0], rows[1], strict=True))
        assert figures["model provider"] == "m host"
        assert all(figure in text for figure in figures.values())
        assert "`m host`" in viewer.get("/endpoints.md").text
