import tempfile
import unittest
from pathlib import Path

from pinion import App, Blueprint, abort
from pinion.routing import Rule
from pinion.templates import TemplateError, Templates
from pinion.testing import Client


class RoutingTest(unittest.TestCase):
    def test_converters(self):
        rule = Rule("/a/<int:id>/<path:rest>", ("GET",), None, "x")
        self.assertEqual(rule.match("/a/12/b/c"), {"id": 12, "rest": "b/c"})
        self.assertIsNone(rule.match("/a/x/b"))

    def test_answers(self):
        app, pages = App(), Blueprint("x")

        @pages.get("/json")
        def data(request):
            return {"a": request.args.get("a")}

        @pages.get("/no")
        def no(request):
            abort(403, "no")

        app.register(pages)
        client = Client(app)
        self.assertEqual(client.get("/json?a=1").json, {"a": "1"})
        self.assertEqual(client.get("/no").status, 403)
        self.assertEqual(client.get("/nothing").status, 404)
        self.assertEqual(client.post("/json").status, 405)


class TemplatesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.templates = Templates(self.folder, {"loud": str.upper})

    def shown(self, text, **values):
        (self.folder / "x.html").write_text(text)
        return self.templates.render("x.html", **values)

    def test_values_are_escaped(self):
        self.assertEqual(self.shown("[[ a.b|loud ]]", a={"b": "<i>"}), "&lt;I&gt;")

    def test_statements(self):
        text = "{% for x in xs %}{% if x %}[[ x ]]{% else %}-{% end %}{% end %}"
        self.assertEqual(self.shown(text, xs=[1, 0, 2]), "1-2")

    def test_mistakes(self):
        with self.assertRaises(TemplateError):
            self.shown("{% if x %}")
