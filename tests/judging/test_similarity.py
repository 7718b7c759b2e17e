"""Semantic similarity on real code: disguised copies above independent code of one purpose, above the unrelated."""

from __future__ import annotations

import ast
import random
import re
import resource
import shutil
import subprocess
import tarfile
import time
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import combinations, pairwise
from pathlib import Path
from statistics import median
from textwrap import dedent
from types import SimpleNamespace

import pytest

from orvl.capture.languages import language_of, parse
from orvl.score.similarity import compare
from orvl.score.similarity.alike import alike
from orvl.score.similarity.features import Features, features, functions, together
from orvl.score.similarity.projects import MAX_FILE, MAX_FILES, against, references
from orvl.score.similarity.weights import background, fit
from orvl.score.similarity.worker import Worker, worker

MADE_ONCE = ("measured", "packages")

TOPICS = {
    "options": ["argparse", "optparse", "click.parser"],
    "queues": ["queue", "asyncio.queues"],
    "locks": ["threading", "asyncio.locks"],
    "quoted-printable": ["quopri", "email.quoprimime"],
    "http": ["http.client", "aiohttp.client"],
    "cookies": ["http.cookiejar", "aiohttp.cookiejar"],
    "pretty": ["pprint", "rich.pretty"],
    "traceback": ["traceback", "rich.traceback"],
    "ini": ["configparser", "iniconfig._parse"],
    "addresses": ["urllib.parse", "yarl._url"],
    "classes": ["dataclasses", "attr._make"],
    "doctest": ["doctest", "_pytest.doctest"],
    "patching": ["unittest.mock", "_pytest.monkeypatch"],
    "idna": ["encodings.idna", "idna.core"],
    "archives": ["zipfile", "tarfile"],
    "patterns": ["fnmatch", "pathspec.patterns.gitignore.basic"],
}
ALONE = ["json.decoder", "difflib", "calendar", "fractions", "heapq", "smtplib", "tokenize", "statistics", "colorsys"]
RELATED = {("http", "cookies"), ("http", "addresses"), ("cookies", "addresses"), ("doctest", "patching")}
PADDING = ["sched", "netrc", "chunk", "bisect"]


def module_file(name: str) -> Path | None:
    spec = find_spec(name)
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def source(name: str) -> str | None:
    """A module's text, as it is installed."""
    path = module_file(name)
    return path.read_text(encoding="utf-8") if path else None


class Rename(ast.NodeTransformer):
    """Gives every name that a module binds another one."""

    def __init__(self, tree: ast.AST, seed: int) -> None:
        bound = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                bound.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.add(node.id)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                bound.add(node.attr)
        names = sorted(name for name in bound if not re.match(r"__.*__$", name))
        letters = random.Random(seed)
        self.new = {name: "".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for name in names}

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        for field in ("name", "id", "arg", "attr"):
            if isinstance(value := getattr(node, field, None), str) and not isinstance(node, ast.alias):
                setattr(node, field, self.new.get(value, value))
        return node


def renamed(text: str, seed: int = 1) -> str:
    tree = ast.parse(text)
    return ast.unparse(Rename(tree, seed).visit(tree))


def reordered(text: str, seed: int = 1) -> str:
    tree = ast.parse(text)
    head = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    rest = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    for node in rest:
        if isinstance(node, ast.ClassDef):
            random.Random(seed).shuffle(node.body)
    random.Random(seed).shuffle(rest)
    tree.body = [*head, *rest]
    return ast.unparse(tree)


def split(text: str) -> list[str]:
    """A module as two."""
    body = ast.parse(text).body
    halves = body[::2], body[1::2]
    return ["\n".join(map(ast.unparse, half)) for half in halves]


def padded(text: str, seed: int = 1) -> str:
    """A module with unrelated code before and after it."""
    first, last = random.Random(seed).sample([code for code in map(source, PADDING) if code], 2)
    return "\n".join(map(ast.unparse, map(ast.parse, (first, text, last))))


def renamed_script(text: str, language: str, seed: int = 1) -> str:
    """JavaScript, TypeScript, HTML or CSS with the names that its author chose replaced."""
    data = text.encode()
    kinds = {"css": ("class_name", "id_name"), "html": ("attribute_value",)}.get(language, ("identifier",))
    tree = parse(data, language)
    spans, names, todo = [], {}, [tree.root_node]
    bound = _bound_in_script(tree.root_node) if kinds == ("identifier",) else None
    letters = random.Random(seed)
    while todo:
        node = todo.pop()
        todo += node.children
        renames = bound is None or node.text in bound
        if node.type in kinds and renames and _is_a_name(node):
            new = names.setdefault(node.text, "".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=7)))
            spans.append((node.start_byte, node.end_byte, new.encode()))
    for start, end, new in sorted(spans, reverse=True):
        data = data[:start] + new + data[end:]
    return data.decode()


def _is_a_name(node) -> bool:
    if node.type != "attribute_value":
        return not (node.type == "class_name" and node.prev_sibling is not None and node.prev_sibling.type == ":")
    owner = node.parent if node.parent.type == "attribute" else node.parent.parent
    return owner.named_children[0].text in (b"class", b"id", b"for")


def _bound_in_script(root) -> set[bytes]:
    bound, todo = set(), [root]
    while todo:
        node = todo.pop()
        todo += node.children
        if node.type in ("variable_declarator", "function_declaration", "class_declaration"):
            name = node.child_by_field_name("name")
            if name is not None and name.type == "identifier":
                bound.add(name.text)
        elif node.type in ("formal_parameters", "required_parameter"):
            bound |= {child.text for child in node.named_children if child.type == "identifier"}
    return bound


def reordered_script(text: str, language: str, seed: int = 1) -> str:
    """The statements or rules of the top level in another order."""
    data = text.encode()
    parts = [data[node.start_byte : node.end_byte].decode() for node in parse(data, language).root_node.named_children]
    random.Random(seed).shuffle(parts)
    return "\n".join(parts)


# -- the figures, on real Python modules


def auc(above, below) -> float:
    """The share of pairs that stand in the right order."""
    return sum((a > b) + 0.5 * (a == b) for a in above for b in below) / (len(above) * len(below))


DISGUISES = {
    "renamed": lambda text: features("a.py", renamed(text)),
    "renamed, reordered, split": lambda text: together(
        features("a.py", part) for part in split(reordered(renamed(text)))
    ),
    "renamed, padded": lambda text: features("a.py", padded(renamed(text))),
}


class Measured:
    """Real modules, their disguised copies, and which of them have to do with each other."""

    def __init__(self) -> None:
        self.topic = {name: topic for topic, names in TOPICS.items() for name in names} | {name: name for name in ALONE}
        self.text = {name: text for name in self.topic if (text := source(name))}
        self.plain = {name: features("a.py", text) for name, text in self.text.items()}
        self.disguised = {
            disguise: {name: change(text) for name, text in self.text.items()} for disguise, change in DISGUISES.items()
        }
        pairs = list(combinations(self.plain, 2))
        self.same = [(a, b) for a, b in pairs if self.topic[a] == self.topic[b]]
        self.unrelated = [pair for pair in pairs if pair not in self.same and not self.are_near(*pair)]

    def are_near(self, a, b) -> bool:
        topics = self.topic[a], self.topic[b]
        return topics in RELATED or topics[::-1] in RELATED

    def values(self, weights, disguise=None):
        if disguise:
            return [alike(one, disguise[name], weights).score for name, one in self.plain.items()]
        return [alike(self.plain[a], self.plain[b], weights).score for a, b in self.same]

    def below(self, weights):
        return [alike(self.plain[a], self.plain[b], weights).score for a, b in self.unrelated]


@pytest.fixture(scope="module")
def measured():
    return Measured()


@pytest.mark.nightly
@pytest.mark.parametrize("source_of_weights", ["built-in", "fitted"])
def test_the_order_on_real_python_modules(measured, source_of_weights):
    weights = background() if source_of_weights == "built-in" else fit(measured.plain.values())
    assert len(measured.plain) >= 30 and len(measured.unrelated) > 143 and len(measured.same) >= 12
    below = measured.below(weights)
    print(f"\n{source_of_weights}: {len(measured.plain)} modules, {len(below)} unrelated pairs")
    for name, copies in measured.disguised.items():
        values = measured.values(weights, copies)
        print(f"  {name}: AUC {auc(values, below):.3f}, least {min(values):.2f}")
        assert auc(values, below) >= 0.99, name
    same = measured.values(weights)
    print(f"  same purpose, independent code ({len(same)} pairs): AUC {auc(same, below):.3f}")
    assert auc(same, below) >= 0.93


def names_of_functions(text) -> set[str]:
    found = (node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    return {name for name in found if not name.startswith("__")}


@pytest.mark.nightly
def test_each_disguise_differs_from_its_original(measured):
    """A copy that the disguise left as it was would prove nothing."""
    for text in measured.text.values():
        assert not names_of_functions(text) & names_of_functions(renamed(text))
        assert len(padded(text)) > len(ast.unparse(ast.parse(text)))
    assert any(reordered(text) != ast.unparse(ast.parse(text)) for text in measured.text.values())


# -- scripts, styles and markup


SCRIPTS = [
    *("semver/classes/semver.js", "semver/classes/range.js", "ini/lib/ini.js", "ms/index.js", "nopt/lib/nopt-lib.js"),
    *("ssri/lib/index.js", "which/lib/index.js", "which/which.js", "brace-expansion/index.js", "debug/src/common.js"),
    *("diff/lib/diff/base.js", "diff/lib/patch/apply.js", "minimatch/minimatch.js", "chalk/source/index.js"),
    *("tar/lib/header.js", "tar/lib/unpack.js", "glob/glob.js", "lru-cache/index.js", "abbrev/lib/index.js"),
    *("hosted-git-info/lib/index.js", "cssesc/cssesc.js", "text-table/index.js", "ip-address/dist/ipv6.js"),
    *("yallist/yallist.js", "signal-exit/index.js", "validate-npm-package-name/lib/index.js", "archy/index.js"),
]


def real_scripts() -> dict[str, str]:
    """JavaScript of the packages that npm itself is made of."""
    npm = Path(shutil.which("npm") or pytest.fail("npm is not installed")).resolve().parents[1]
    found = ((name, place / name) for name in SCRIPTS for place in (npm / "node_modules", npm.parent))
    return {name: path.read_text(encoding="utf-8") for name, path in found if path.is_file()}


def test_the_order_on_real_scripts():
    texts = real_scripts()
    assert len(texts) >= 8
    weights = background()
    plain = {name: features(name, text) for name, text in texts.items()}
    pairs = [(a, b) for a, b in combinations(plain, 2) if a.split("/")[0] != b.split("/")[0]]
    below = [alike(plain[a], plain[b], weights).score for a, b in pairs]
    print(f"\n{len(texts)} scripts, {len(pairs)} unrelated pairs")
    for name, disguise in (("renamed", renamed_script), ("reordered", reordered_script)):
        copies = {one: disguise(text, "javascript") for one, text in texts.items()}
        assert all(copies[one] != text for one, text in texts.items()) or name == "reordered"
        values = [alike(plain[one], features(one, copy), weights).score for one, copy in copies.items()]
        print(f"  {name}: AUC {auc(values, below):.3f}, least {min(values):.2f}")
        assert auc(values, below) >= 0.99


# -- one purpose, independent code, in the languages of the web


PACKAGES = {
    "javascript": {
        "emitter": [
            "events@3.3.0/events.js",
            "eventemitter2@6.4.9/lib/eventemitter2.js",
            "wolfy87-eventemitter@5.2.9/EventEmitter.js",
        ],
        "md5": ["blueimp-md5@2.19.0/js/md5.js", "md5@2.3.0/md5.js"],
        "cookie": [
            "js-cookie@3.0.8/dist/js.cookie.js",
            "component-cookie@1.1.5/index.js",
            "cookies-js@1.2.3/dist/cookies.js",
        ],
        "keys": ["mousetrap@1.6.5/mousetrap.js", "keymaster@1.6.2/keymaster.js"],
        "address": ["url-parse@1.5.10/index.js", "urijs@1.19.11/src/URI.js"],
        "calendar": ["pikaday@1.8.2/pikaday.js", "bootstrap-datepicker@1.10.1/js/bootstrap-datepicker.js"],
        "number": ["numeral@2.0.6/src/numeral.js", "accounting@0.4.1/accounting.js"],
        "machine": ["javascript-state-machine@3.1.0/lib/state-machine.js", "machina@4.0.2/lib/machina.js"],
    },
    "typescript": {
        "sha": ["@noble/hashes@1.8.0/src/sha2.ts", "@stablelib/sha512@2.0.1/sha512.ts"],
        "hmac": ["@noble/hashes@1.8.0/src/hmac.ts", "@stablelib/hmac@2.0.1/hmac.ts"],
        "scrypt": ["@noble/hashes@1.8.0/src/scrypt.ts", "@stablelib/scrypt@1.0.3/scrypt.ts"],
        "draft": ["immer@11.2.10/src/core/immerClass.ts", "mutative@2.0.0/src/makeCreator.ts"],
        "slider": ["@zag-js/slider@0.50.0/src/slider.machine.ts", "@react-stately/slider@3.5.8/src/useSliderState.ts"],
        "toast": ["@zag-js/toast@0.50.0/src/toast.machine.ts", "@react-stately/toast@3.1.0/src/useToastState.ts"],
        "store": ["redux@5.0.1/src/createStore.ts"],
        "observable": ["mobx@7.1.3/src/core/derivation.ts"],
    },
    "css": {
        "plain": [
            "sakura.css@1.5.1/css/sakura.css",
            "mvp.css@1.18.0/mvp.css",
            "simpledotcss@2.3.7/simple.css",
            "@exampledev/new.css@1.1.3/new.css",
        ],
        "chart": ["c3@0.7.20/c3.css", "nvd3@1.8.6/build/nv.d3.css", "chartist@0.11.4/dist/chartist.css"],
        "modal": [
            "jquery-modal@0.9.2/jquery.modal.css",
            "remodal@1.1.1/dist/remodal-default-theme.css",
            "izimodal@1.6.1/css/iziModal.css",
        ],
        "tour": [
            "intro.js@8.6.0/introjs.css",
            "shepherd.js@15.3.0/dist/css/shepherd.css",
            "driver.js@1.8.0/dist/driver.css",
        ],
        "gallery": [
            "baguettebox.js@1.13.0/dist/baguetteBox.css",
            "glightbox@3.3.1/dist/css/glightbox.css",
            "viewerjs@1.15.0/dist/viewer.css",
        ],
        "select": [
            "bootstrap-select@1.13.18/dist/css/bootstrap-select.css",
            "selectize@0.12.6/dist/css/selectize.css",
            "multiple-select@2.3.1/dist/multiple-select.css",
        ],
        "tree": ["jstree@3.3.17/dist/themes/default/style.css", "jqtree@1.9.1/jqtree.css"],
    },
}
NEAR = {
    frozenset(pair)
    for pair in (
        ("sha", "hmac"),
        ("sha", "scrypt"),
        ("hmac", "scrypt"),
        ("slider", "toast"),
        ("gallery", "modal"),
        ("tour", "modal"),
    )
}


def package_of(path: str) -> str:
    """`@a/b@1.0/lib/c.js` → `@a/b@1.0`."""
    return re.match(r"(@[^/]+/)?[^/]+", path)[0]


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The texts of the packages above, in the versions named, from npm's registry."""
    npm = shutil.which("npm") or pytest.fail("npm is not installed")
    folder = tmp_path_factory.mktemp("packages")
    paths = [path for topics in PACKAGES.values() for files in topics.values() for path in files]
    argv = [npm, "pack", "--silent", "--ignore-scripts", *sorted({package_of(path) for path in paths})]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode:
        pytest.fail(f"npm's registry cannot be reached: {done.stderr.strip()[-200:]}")
    return {path: packed_file(folder, path) for path in paths}


def packed_file(folder: Path, path: str) -> str:
    package = package_of(path)
    archive = folder / f"{package.lstrip('@').replace('/', '-').replace('@', '-')}.tgz"
    with tarfile.open(archive) as tar:
        inner = path.removeprefix(f"{package}/")
        member = next(one for one in tar.getmembers() if one.name.partition("/")[2] == inner)
        return tar.extractfile(member).read().decode("utf-8")


def order_of(topics, texts) -> tuple[list[float], list[float], list[float]]:
    """The scores of renamed copies, of pairs of one purpose, and of unrelated pairs of other packages."""
    weights = background()
    topic = {path: name for name, files in topics.items() for path in files}
    found = {path: features(path, texts[path]) for path in topic}
    copies = [
        alike(one, features(path, renamed_script(texts[path], language_of(path))), weights).score
        for path, one in found.items()
    ]
    same, unrelated = [], []
    for a, b in combinations(found, 2):
        if topic[a] == topic[b]:
            same.append(alike(found[a], found[b], weights).score)
        elif package_of(a) != package_of(b) and frozenset((topic[a], topic[b])) not in NEAR:
            unrelated.append(alike(found[a], found[b], weights).score)
    return copies, same, unrelated


@pytest.mark.nightly
@pytest.mark.parametrize("language", PACKAGES)
def test_the_order_on_real_packages(packages, language):
    copies, same, unrelated = order_of(PACKAGES[language], packages)
    print(f"\n{language}: {len(copies)} files, {len(same)} pairs of one purpose, {len(unrelated)} unrelated")
    print(f"  renamed: AUC {auc(copies, unrelated):.3f}, above one purpose {auc(copies, same):.3f}")
    print(f"  same purpose, independent code: AUC {auc(same, unrelated):.3f}")
    assert auc(copies, unrelated) >= 0.99 and auc(copies, same) >= 0.99
    assert auc(same, unrelated) >= 0.93


TODO = """
<!doctype html><title>To-do</title>
<style>.done { text-decoration: line-through; color: gray } #list li { padding: 4px; border-bottom: 1px solid #ddd }</style>
<h1>My tasks</h1><form id="add"><input id="text" placeholder="What needs to be done?" required><button>Add</button></form>
<ul id="list"></ul>
<script>
const list = document.querySelector("#list");
let tasks = JSON.parse(localStorage.getItem("tasks") || "[]");
function draw() {
  list.replaceChildren(...tasks.map((task, index) => {
    const row = document.createElement("li");
    row.textContent = task.text;
    row.classList.toggle("done", task.done);
    row.addEventListener("click", () => { task.done = !task.done; save(); });
    return row;
  }));
}
function save() { localStorage.setItem("tasks", JSON.stringify(tasks)); draw(); }
document.querySelector("#add").addEventListener("submit", (event) => {
  event.preventDefault();
  tasks.push({ text: document.querySelector("#text").value, done: false });
  event.target.reset();
  save();
});
draw();
</script>
"""
OTHER_TODO = """
<!DOCTYPE html><html><head><title>Todo list</title><style>
body { font: 16px sans-serif; max-width: 30em; margin: auto } .finished { opacity: .5 } .finished span { text-decoration: line-through }
</style></head><body><div id="app"><h2>Todo</h2><input type="text" class="new-task" placeholder="Add a task"><ul></ul></div>
<script>
class TodoList {
  constructor(root) { this.root = root; this.items = []; this.load(); }
  load() { const kept = localStorage.getItem("todo-items"); if (kept) this.items = JSON.parse(kept); this.render(); }
  store() { localStorage.setItem("todo-items", JSON.stringify(this.items)); }
  add(title) { this.items.push({ title, completed: false }); this.store(); this.render(); }
  render() {
    let html = "";
    for (const item of this.items) {
      html += `<li class="${item.completed ? "finished" : ""}"><input type="checkbox"><span>${item.title}</span></li>`;
    }
    this.root.querySelector("ul").innerHTML = html;
  }
}
const app = new TodoList(document.getElementById("app"));
document.querySelector(".new-task").onkeydown = (e) => { if (e.key === "Enter") { app.add(e.target.value); e.target.value = ""; } };
</script></body></html>
"""
CLOCK = """
<!doctype html><title>Clock</title><style>canvas { display: block; margin: 0 auto; background: black }</style>
<canvas width="300" height="300"></canvas>
<script>
const context = document.querySelector("canvas").getContext("2d");
function hand(angle, length, width) {
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(150, 150);
  context.lineTo(150 + Math.sin(angle) * length, 150 - Math.cos(angle) * length);
  context.stroke();
}
setInterval(() => {
  const now = new Date();
  context.clearRect(0, 0, 300, 300);
  context.strokeStyle = "white";
  hand(now.getHours() / 6 * Math.PI, 70, 6);
  hand(now.getMinutes() / 30 * Math.PI, 110, 4);
  hand(now.getSeconds() / 30 * Math.PI, 130, 1);
}, 1000);
</script>
"""


def test_pages_count_with_their_scripts_and_styles():
    weights = background()
    page, other, clock = (features("index.html", text) for text in (TODO, OTHER_TODO, CLOCK))
    disguised = features("index.html", renamed_script(TODO, "html"))
    copy, same, unrelated = (alike(page, one, weights).score for one in (disguised, other, clock))
    print(f"\nrenamed {copy:.2f}, same purpose {same:.2f}, unrelated {unrelated:.2f}")
    assert copy > 0.8 > same > unrelated
    assert same > 1.5 * unrelated


PAGES = {
    "to-do": [TODO, OTHER_TODO],
    "clock": [CLOCK],
    "login": [
        """<!doctype html><title>Sign in</title><main class="box"><h1>Sign in to your account</h1>
<form method="post" action="/session"><label>Email <input type="email" name="email" autocomplete="username"></label>
<label>Password <input type="password" name="password"></label><label><input type="checkbox" name="remember"> Remember me</label>
<button>Sign in</button></form><p><a href="/password/reset">Forgot your password?</a> <a href="/signup">Create account</a></p></main>""",
        """<html><head><title>Login - Portal</title></head><body><div class="container"><div class="card"><h3>Login</h3>
<form id="login-form" onsubmit="return login(this)"><div class="field"><input placeholder="Username or email" id="username"></div>
<div class="field"><input placeholder="Password" id="password" type="password"></div><input type="submit" value="Log in"></form>
<div class="foot">No account? <a href="register.html">Register</a> | <a href="forgot.html">Lost password</a></div></div></div>
<script>async function login(form) { const answer = await fetch("/api/login", { method: "POST", body: new FormData(form) });
  if (!answer.ok) alert("Wrong username or password"); }</script></body></html>""",
    ],
    "prices": [
        """<!doctype html><title>Pricing</title><h1>Plans and pricing</h1><section class="plans"><article><h2>Free</h2>
<p class="price">$0 / month</p><ul><li>1 user</li><li>Community support</li></ul><a href="/start">Get started</a></article>
<article><h2>Team</h2><p class="price">$12 / month</p><ul><li>10 users</li><li>Email support</li></ul><a href="/buy">Buy now</a></article></section>""",
        """<html><body><h2 class="center">Choose your plan</h2><table class="pricing"><tr><th></th><th>Basic</th><th>Pro</th></tr>
<tr><td>Price per month</td><td>$5</td><td>$25</td></tr><tr><td>Users included</td><td>2</td><td>unlimited</td></tr>
<tr><td>Support</td><td>email</td><td>phone</td></tr><tr><td></td><td><button>Choose Basic</button></td><td><button>Choose Pro</button></td></tr></table></body></html>""",
    ],
    "lost": [
        """<!doctype html><title>404 - Page not found</title><style>body { text-align: center; padding: 4em }</style>
<h1>404</h1><p>Sorry, the page you are looking for does not exist or was moved.</p><a href="/">Back to the homepage</a>""",
        """<html><head><title>Not Found</title></head><body><div id="error"><span>Error 404</span><h2>Oops! Page not found</h2>
<p>The requested address was not found on this server. Check the address, or return home.</p><a class="btn" href="/">Go home</a></div></body></html>""",
    ],
    "recipe": [
        """<!doctype html><title>Pancakes</title><article><h1>Pancakes</h1><p>Serves 4, ready in 20 minutes.</p><h2>Ingredients</h2>
<ul><li>200 g flour</li><li>2 eggs</li><li>300 ml milk</li><li>butter for the pan</li></ul><h2>Method</h2>
<ol><li>Whisk flour, eggs and milk.</li><li>Melt butter in a pan.</li><li>Cook each side for two minutes.</li></ol></article>""",
        """<html><body><div class="recipe"><h2>Apple pie recipe</h2><img src="pie.jpg" alt="Apple pie"><div class="ingredients"><b>You need</b><p>
300 g flour, 150 g butter, 5 apples, sugar, 1 egg, a little milk</p></div><div class="steps"><p>Rub butter into flour, add egg and milk, chill.</p>
<p>Fill with apples and sugar, cook in the oven for 45 minutes. Serves 8.</p></div></div></body></html>""",
    ],
}


def test_the_order_on_pages():
    weights = background()
    found = [(topic, features("a.html", text)) for topic, texts in PAGES.items() for text in texts]
    pairs = [(a == b, alike(one, other, weights).score) for (a, one), (b, other) in combinations(found, 2)]
    same, unrelated = ([score for is_same, score in pairs if is_same is wanted] for wanted in (True, False))
    copies = [
        alike(features("a.html", text), features("a.html", renamed_script(text, "html")), weights).score
        for texts in PAGES.values()
        for text in texts
    ]
    print(f"\n{len(same)} pairs of one purpose, {len(unrelated)} unrelated: AUC {auc(same, unrelated):.3f}")
    assert auc(copies, unrelated) >= 0.99 and auc(copies, same) >= 0.99
    assert auc(same, unrelated) >= 0.93


STYLE = """
.card { display: grid; gap: 12px; padding: 1rem 2rem; border-radius: 8px; box-shadow: 0 1px 3px rgba(0, 0, 0, .2) }
.card > .title { font-weight: 600; letter-spacing: .02em; color: #223 }
#menu a:hover { text-decoration: underline; color: teal }
@media (max-width: 600px) { .card { grid-template-columns: 1fr } #menu { display: none } }
"""
OTHER_STYLE = """
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: 3px }
tr:nth-child(even) { background: #f4f4f4 } caption { caption-side: bottom; font-style: italic }
"""
TYPED = """
export interface Item { price: number; count: number }
export function total(items: Item[], discount: number = 0): number {
  let sum: number = 0;
  for (const item of items) { if (item.count > 0) { sum += item.price * item.count; } }
  return Math.max(sum * (1 - discount / 100), 0);
}
export const format = (value: number): string => new Intl.NumberFormat("en", { style: "currency", currency: "EUR" }).format(value);
"""
UNTYPED = """
export function total(items, discount = 0) {
  let sum = 0;
  for (const item of items) { if (item.count > 0) { sum += item.price * item.count; } }
  return Math.max(sum * (1 - discount / 100), 0);
}
export const format = (value) => new Intl.NumberFormat("en", { style: "currency", currency: "EUR" }).format(value);
"""
OTHER_TYPED = """
export class Emitter<T> {
  private listeners: Map<string, Set<(value: T) => void>> = new Map();
  on(name: string, listener: (value: T) => void): () => void {
    if (!this.listeners.has(name)) this.listeners.set(name, new Set());
    this.listeners.get(name)!.add(listener);
    return () => { this.listeners.get(name)?.delete(listener); };
  }
}
"""


@pytest.mark.parametrize(
    ("name", "text", "other"),
    [("a.css", STYLE, OTHER_STYLE), ("a.ts", TYPED, OTHER_TYPED), ("a.tsx", TYPED, OTHER_TYPED)],
)
def test_styles_and_typed_scripts(name, text, other):
    weights, language = background(), language_of(name)
    assert features(name, text).parsed
    copy = features(name, reordered_script(renamed_script(text, language), language))
    assert alike(features(name, text), copy, weights).score > 0.7
    assert alike(features(name, text), features(name, other), weights).score < 0.2


def test_types_do_not_count():
    both = alike(features("a.ts", TYPED), features("a.js", UNTYPED), background())
    assert both.subtrees > 0.8 and both.calls > 0.9


# -- functions, files that do not parse, other languages


def test_single_functions_compare():
    text = source("textwrap")
    mine, theirs = dict(functions("a.py", text)), dict(functions("b.py", renamed(text)))
    assert {"wrap", "fill", "dedent", "indent"} <= mine.keys() and not {"wrap", "fill"} & theirs.keys()
    weights = background()
    nearest = {name: max(alike(one, other, weights).score for other in theirs.values()) for name, one in mine.items()}
    assert nearest["dedent"] > 0.6 and nearest["_wrap_chunks"] > 0.6
    assert alike(mine["dedent"], mine["_wrap_chunks"], weights).score < 0.3


def test_methods_of_scripts_are_functions():
    assert dict(functions("a.html", OTHER_TODO)).keys() >= {"constructor", "load", "store", "add", "render"}


def test_what_does_not_parse_still_compares_by_tokens():
    text = source("textwrap")
    broken = "}} ((( class def\n" + text.replace(":\n", "\n").replace(")", "]")
    one = features("a.py", broken)
    assert not one.parsed
    weights = background()
    near, far = (alike(one, features("b.py", other), weights) for other in (text, source("colorsys")))
    assert near.subtrees is near.calls is None and near.tokens is not None
    assert near.score > 3 * far.score


def test_a_language_without_a_grammar_compares_by_tokens():
    go = "func Add(items []Item) (int, error) {\n  if len(items) == 0 { return 0, errEmpty }\n  total := 0\n  for _, item := range items { total += item.Price }\n  return total, nil\n}\n"
    other = (
        "type Server struct { port int }\nfunc (s *Server) Start() { go func() { http.ListenAndServe(addr, nil) }() }\n"
    )
    copy = go.replace("items", "rows").replace("total", "sum")
    one, twin, far = (features("a.go", text) for text in (go, copy, other))
    assert not one.parsed
    assert alike(one, twin, background()).tokens == 1
    assert alike(one, far, background()).score < 0.2


def test_nothing_is_no_number_and_alike_is_one():
    weights = background()
    nothing, one = Features(), features("a.py", source("textwrap"))
    assert alike(nothing, nothing, weights).score is None
    assert alike(one, nothing, weights).score == 0
    assert alike(one, one, weights).score == pytest.approx(1)


def test_a_small_part_is_not_the_whole():
    text = source("argparse")
    part = "\n".join(ast.unparse(node) for node in ast.parse(text).body[20:24])
    assert alike(features("a.py", part), features("b.py", text), background()).score < 0.6


# -- whole projects, modules and functions


def test_two_projects_compare_on_both_axes():
    mine = {"app.py": source("textwrap"), "lib/calc.py": source("fractions"), "README.md": "Wraps text."}
    theirs = {"all.py": "\n".join(renamed(mine[path]) for path in ("app.py", "lib/calc.py"))}
    near, far = compare(mine, theirs), compare(mine, {"a.py": source("calendar")})
    assert near.structure > 0.7 > 0.15 > far.structure and near.purpose > far.purpose
    assert near.score == pytest.approx(0.75 * near.structure + 0.25 * near.purpose)
    assert compare(mine, theirs, start=mine).score < 0.3
    assert compare(mine, theirs, fit(features(path, text) for path, text in mine.items())).score != near.score
    assert compare({}, {}).score is None and compare(mine, {}).score == 0


def test_a_reference_of_one_file_is_looked_for_in_each_file(tmp_path):
    (tmp_path / "wanted.py").write_text(source("textwrap"))
    others = {f"{name}.py": source(name).encode() for name in ("calendar", "argparse", "fractions")}
    hidden = Left(others | {"mine.py": renamed(source("textwrap")).encode()})
    assert against(Left(others), tmp_path, None).score < 0.25
    assert against(hidden, tmp_path, None).score > 0.6
    (tmp_path / "more.py").write_text(source("statistics"))
    assert against(hidden, tmp_path, None).score < 0.4, "of a reference of several files, the whole counts"


ROUND = "import math\n\n\n@cache\ndef {name}({a}, {b}=2):\n    {c} = math.floor({a} * 10 ** {b} + 0.5)\n    if {c} < 0:\n        raise ValueError('negative')\n    return math.copysign({c} / 10 ** {b}, {a})\n"
CLAMP = "export const {name} = ({a}, {b}) => {{\n  const {c} = Math.hypot({a}.x, {a}.y);\n  if ({c} <= {b}) return {a};\n  return {{ x: {a}.x * {b} / {c}, y: {a}.y * {b} / {c} }};\n}};\n"


@pytest.mark.parametrize(("suffix", "code", "other"), [("py", ROUND, "calendar"), ("js", CLAMP, None)])
def test_a_reference_of_one_function_is_looked_for_in_each_function(tmp_path, suffix, code, other):
    wanted = code.format(name="wanted", a="value", b="digits", c="scaled")
    assert features(f"a.{suffix}", wanted).is_function
    assert not features(f"a.{suffix}", wanted + code.format(name="two", a="a", b="b", c="c")).is_function
    (tmp_path / f"wanted.{suffix}").write_text(wanted)
    around = source(other) if other else UNTYPED * 5
    mine = around + "\n" + code.format(name="mine", a="x", b="n", c="y") + "\n"
    without = against(Left({f"big.{suffix}": around.encode()}), tmp_path, None).score
    found = against(Left({f"big.{suffix}": mine.encode()}), tmp_path, None).score
    print(f"\nwithout {without:.2f}, within {found:.2f}")
    assert found > 0.7 > 0.3 > without


# -- what hostile files can do


HOSTILE = {
    "quotes.js": '"' * (100 << 10),
    "tags.py": "<div>" * (20 << 10),
    "open.html": "<script " * (12 << 10),
    "comments.css": "/*" * (50 << 10),
    "deep.py": "(" * (100 << 10),
    "pairs.js": "[" * 50_000 + "]" * 50_000,
    "functions.js": "function f(){" * 8000,
    "lone.js": "\ud800 = 1",
    "marks.html": "<!--" * (25 << 10),
}


class Left:
    """A run as `against` sees it: entries of a tree, read by path."""

    def __init__(self, files):
        self.files = files
        self.tree = [SimpleNamespace(path=path, kind="file", hash="h", size=len(data)) for path, data in files.items()]

    def read_bytes(self, path):
        return self.files[path]


def processor_seconds():
    worker().close()
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


@contextmanager
def within(seconds):
    """A bound on processor time, which a busy machine does not stretch."""
    start = processor_seconds()
    yield
    took = processor_seconds() - start
    print(f"\n{took:.2f} s")
    assert took < seconds


def test_hostile_files_end_only_the_process_that_parses_them():
    good = source("textwrap")
    mine = Worker()
    with within(5):
        found = mine.features([("first.py", good), *HOSTILE.items(), ("last.js", "call(me, 1, 2)")])
        mine.close()
    assert len(found) == len(HOSTILE) + 2
    assert found[0] == features("first.py", good)
    assert not found[1].parsed and found[1].grams
    assert found[-1].purpose or found[-1].grams


def test_the_process_stays_and_each_content_is_parsed_once():
    mine, good = Worker(), source("textwrap")
    first = mine.features([("a.py", good)])[0]
    process = mine._child
    assert mine.features([("b.py", good), ("c.py", good + "\n")])[0] is first
    assert mine._child is process
    process.kill()
    process.wait()
    assert mine.features([("d.py", good + "\n\n")])[0].parsed
    assert mine._child is not process
    mine.close()


@pytest.mark.parametrize("kind", ["slow to parse", "hostile", "many files", "large files"])
def test_a_hostile_project_takes_seconds(tmp_path, kind):
    (tmp_path / "a.py").write_text(source("textwrap"))
    files = {
        "slow to parse": {f"{n}.js": b'"' * ((14 << 10) + n) for n in range(20)},
        "hostile": {path: text.encode("utf-8", "replace") for path, text in HOSTILE.items()},
        "many files": {f"{n % 100}/{n}.py": b"def f(): return %d" % n for n in range(10_000)},
        "large files": {
            "huge.js": b"call(me);\n" * 1_000_000,
            "binary.py": b"\0\xff" * 1000,
            "bytes.js": b"\xff\xfe(" * 10_000,
            **{f"{n}.py": source("argparse").encode() + b"#" * n for n in range(12)},
        },
    }[kind]
    with within(5):
        found = against(Left(files), tmp_path, None)
    assert found.score is not None and found.score < 0.3


def test_a_folder_is_read_within_bounds(tmp_path):
    good = source("textwrap")
    (tmp_path / "a.py").write_text(good)
    one = Left({"a.py": good.encode()})
    assert against(one, tmp_path, None).score == pytest.approx(1)
    (tmp_path / "huge.py").write_text("x = 1\n" * MAX_FILE)
    (tmp_path / "binary.py").write_bytes(b"import os\0\1\2")
    (tmp_path / "long.js").write_text("a(1);" * 10_000)
    (tmp_path / "code.min.js").write_text("call(me)")
    (tmp_path / "uv.lock").write_text("name = 'lock'")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "b.js").write_text("other(code)")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert against(one, tmp_path, None).score == pytest.approx(1)


def test_no_more_than_the_most_files_are_read(tmp_path):
    read = []
    files = {f"n{n}.py": b"x = 1\n" for n in range(MAX_FILES + 50)}
    run = Left(files)
    run.read_bytes = lambda path: read.append(path) or files[path]
    (tmp_path / "a.py").write_text("x = 1\n")
    against(run, tmp_path, None)
    assert len(read) == MAX_FILES


# -- speed


def processor_time_of(process) -> float:
    return int(Path(f"/proc/{process.pid}/schedstat").read_text().split()[0]) / 1e9


def test_an_ordinary_pair_takes_less_than_50_ms():
    """The median over real modules, parsed anew by the warm process; the yardstick is Python's own parser."""
    names = sorted(name for names in (*TOPICS.values(), ALONE) for name in names)
    texts = [text for text in map(source, names) if text and 10 << 10 < len(text) < 50 << 10]
    mine, weights = Worker(), background()
    mine.features([("warm.py", "x = 1\n")])
    pairs, plain = [], []
    for one, other in pairwise(texts):
        mine._cached.clear()
        start = time.process_time() + processor_time_of(mine._child)
        a, b = mine.features([("a.py", one), ("b.py", other)])
        alike(a, b, weights)
        pairs.append(time.process_time() + processor_time_of(mine._child) - start)
        start = time.process_time()
        ast.parse(one), ast.parse(other)
        plain.append(time.process_time() - start)
    start = time.process_time()
    assert mine.features([("a.py", texts[-2])])[0] is a
    again = time.process_time() - start
    mine.close()
    took, yardstick = median(pairs), median(plain)
    sizes = median(len(a) + len(b) for a, b in pairwise(texts)) / 1024
    print(
        f"\n{len(pairs)} pairs, {sizes:.0f} KiB: {took * 1000:.0f} ms of processor time, {took / yardstick:.1f} plain parses"
    )
    assert len(pairs) >= 10
    assert took < 6 * yardstick
    assert again < took / 5, "what was parsed once is not parsed again"


# -- the metric


GOOD = {"app.py": "textwrap", "lib/calc.py": "fractions"}
EVAL = "---\nmetrics: {semantic-similarity: 1}\n---\nGo.\n"


def write_all(project, folder, files):
    for name, text in files.items():
        project.write(f"{folder}/{name}", text)


def agent_that_writes(project, files):
    shutil.rmtree(project.root / "given", ignore_errors=True)
    write_all(project, "given", files)
    project.agent(
        "mine",
        f"""
        models = {{"none": ["m"]}}
        # another agent for each content: {sum(map(len, files.values()))}
        def command():
            return ["cp", "-r", {str(project.root / "given") + "/."!r}, "."]
        """,
    )


def similarity(project):
    result = project.orvl("mine", "--eval=e", "--json", "--sandbox=none")
    assert "Traceback" not in result.err, result.err
    return result


def mean(result):
    return result.json["ratings"][0]["metrics"]["semantic-similarity"]["mean"]


def test_a_run_is_compared_with_the_reference(project):
    texts = {name: source(module) for name, module in GOOD.items()}
    project.write("evals/e/eval.md", EVAL)
    write_all(project, "evals/e/reference", texts)
    agent_that_writes(project, {"all.py": renamed(texts["app.py"]), "more.py": renamed(texts["lib/calc.py"])})
    copied = mean(similarity(project))
    agent_that_writes(project, {"all.py": source("calendar")})
    unrelated = mean(similarity(project))
    agent_that_writes(project, {"README.md": "Go.\n"})
    nothing = mean(similarity(project))
    print(f"\ncopied {copied:.2f}, unrelated {unrelated:.2f}, nothing {nothing:.2f}")
    assert copied > 0.6 > 0.2 > unrelated > nothing


def test_the_nearest_of_several_references_counts(project, tmp_path):
    project.write("evals/e/eval.md", EVAL)
    for name in ("calendar", "textwrap"):
        project.write(f"evals/e/reference/{name}/code.py", source(name))
    agent_that_writes(project, {"a.py": renamed(source("textwrap"))})
    assert mean(similarity(project)) > 0.6
    assert [path.name for path in references(project.root / "evals/e/reference")] == ["calendar", "textwrap"]
    project.write("evals/e/reference/README.md", "One project.")
    assert references(project.root / "evals/e/reference") == [project.root / "evals/e/reference"]


def test_what_the_run_started_from_weighs_nothing(project):
    start, work = source("calendar"), source("textwrap")
    project.write("evals/e/eval.md", EVAL)
    write_all(project, "evals/e/workspace", {"start.py": start})
    write_all(project, "evals/e/reference", {"start.py": start, "work.py": work})
    agent_that_writes(project, {"notes.txt": ""})
    assert mean(similarity(project)) == 0
    agent_that_writes(project, {"mine.py": renamed(work)})
    assert mean(similarity(project)) > 0.6


def test_without_a_reference_it_does_not_apply(project):
    project.write("evals/e/eval.md", EVAL)
    agent_that_writes(project, {"a.py": "x = 1\n"})
    assert mean(similarity(project)) is None


def test_a_changed_reference_is_scored_again_without_running_again(project):
    project.write("evals/e/eval.md", EVAL)
    project.write("evals/e/reference/a.py", source("textwrap"))
    agent_that_writes(project, {"a.py": source("textwrap")})
    assert mean(similarity(project)) == pytest.approx(1)
    project.write("evals/e/reference/a.py", source("calendar"))
    assert mean(similarity(project)) < 0.2
    assert project.rows("select count(*) from attempt")[0][0] == 1


def test_the_measure_is_the_one_that_stored_scores_have():
    """Where this fails because the measure was changed, raise `measure` in the metric's file."""
    one = dedent("""
        import json
        def load(path):
            with open(path) as file:
                return json.load(file)
    """)
    other = one.replace("load(path)", "read(name)").replace("open(path)", "open(name, 'rb')")
    assert alike(features("a.py", one), features("b.py", other), background()).score == pytest.approx(0.4156, abs=5e-4)
