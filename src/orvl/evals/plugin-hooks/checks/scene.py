"""A site that is made up for one case, with its plugins, and what heddle makes of it."""

import json
import re

from orvl import checks

HEDDLE = "bin/heddle.js"
SECONDS = 30
TRACE = "trace.txt"
MAIN = re.compile(r"<main[^>]*>(.*)</main>", re.DOTALL)
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
HEAD = re.compile(r"<head[^>]*>(.*)</head>", re.DOTALL)


class Wrong(Exception):
    """A case did not go as it should."""


def expect(what, seen, wanted):
    if seen != wanted:
        raise Wrong(f"{what}: expected {str(wanted)[:240]}, saw {str(seen)[:240]}")


def expect_in(what, parts, text):
    """Each part is a text, or several of which one is enough."""
    for part in parts:
        if not any(one in text for one in ([part] if isinstance(part, str) else part)):
            raise Wrong(f"{what}: expected {part!r} in {text[-400:]!r}")


def names_of(hook):
    """A hook's name, and those that it may go by when it has got a newer one."""
    newer = {"pages": "entries"}.get(hook, hook.replace("page:", "entry:"))
    return {hook, newer} | ({new_hook(), new_hook("entry")} if hook == "page:html" else set())


def new_hook(prefix="page"):
    """What takes the place of page:html."""
    return f"{prefix}:{checks.drawn()['hook']}"


def failed_status():
    return int(checks.drawn()["status"])


class Code(str):
    """A piece of JavaScript."""


def js(text, **values):
    """JavaScript with values, or pieces of code, in place of $NAMES."""

    def put(match):
        value = values[match[1]]
        return value if isinstance(value, Code) else json.dumps(value)

    return re.sub(r"\$([A-Z]+)\b", put, text)


class Words:
    """Words that nobody can know, none of which has another one in it."""

    def __init__(self, random):
        self.random, self._made = random, []

    def __call__(self):
        while True:
            word = "".join(self.random.choice(side) for side in ("bdfklmnrstvz", "aeiou") * 3) + self.random.choice(
                "kmrt"
            )
            if word not in self._made:
                self._made.append(word)
                return word


class Page:
    """As it stands in the site's folder."""

    def __init__(self, file, fields, body):
        self.file, self.fields, self.body = file, fields, body
        name = file.partition("/")[2][: -len(".md")]
        self.url = fields.get("url", f"/{name}/")
        self.title, self.date = fields.get("title", name.rpartition("/")[2]), fields.get("date", "")

    @property
    def text(self):
        lines = [f"{key}: {value}" for key, value in self.fields.items()]
        return "\n".join(["---", *lines, "---", self.body, ""])

    @property
    def html(self):
        """The body is one paragraph of plain words."""
        return f"<p>{self.body}</p>"


class Site:
    def __init__(self, random):
        self.random, self.word = random, Words(random)
        self.dir = f"sites/{self.word()}"
        self.config = {"title": self.word().title()}
        self.pages, self.plugins, self.written = [], [], {}

    # -- making it

    def page(self, folder="", **fields):
        """A page with a title, a number `n`, and a date later than any page before: the newest comes first."""
        day = len(self.pages)
        known = {
            "title": self.word().title(),
            "date": f"20{31 + day // 28}-05-{1 + day % 28:02}",
            "n": self.random.randrange(10, 99),
        }
        name = f"{folder}{self.word()}.md"
        page = Page(f"content/{name}", known | fields, " ".join(self.word() for _ in range(self.random.randint(3, 6))))
        self.pages.append(page)
        return page

    def some_pages(self, least=3, most=4):
        return [self.page() for _ in range(self.random.randint(least, most))]

    def in_order(self):
        """The pages as the site has them, the newest first."""
        return sorted(self.pages, key=lambda page: (page.date, page.url), reverse=True)

    def plugin(self, code, name=None, options=None, **values):
        """A plugin in a file of its own; `$NAME` is its name. `code` is what stands between the braces, or a whole file."""
        name = name or self.word()
        if "export default" not in code:
            code = "export default {\n  name: $NAME,\n" + code + "\n}\n"
        path = f"plugins/{self.word()}.js"
        head = (
            "import { appendFileSync } from 'node:fs'\nconst trace = (text) => appendFileSync($TRACE, text + '\\n')\n"
        )
        self.file(path, js(head + code, NAME=name, TRACE=f"{self.dir}/{TRACE}", **values))
        self.plugins.append(f"./{path}" if options is None else [f"./{path}", options])
        return name

    def hooks(self, code, name=None, **values):
        """A plugin with nothing but these hooks."""
        return self.plugin("hooks: {\n" + code + "\n}", name, **values)

    def file(self, path, content):
        self.written[path] = content

    # -- building it

    def lay(self):
        config = self.config | ({"plugins": self.plugins} if self.plugins else {})
        files = {"heddle.json": json.dumps(config), **{page.file: page.text for page in self.pages}, **self.written}
        for path, content in files.items():
            checks.write(f"{self.dir}/{path}", content)

    def heddle(self, command, *flags, env=None):
        self.lay()
        return checks.run("node", HEDDLE, command, self.dir, *flags, env=env, seconds=SECONDS)

    def build(self, *flags, env=None):
        """Builds it; that has to work."""
        ended = self.heddle("build", *flags, env=env)
        if ended.status != 0:
            raise Wrong(f"build: expected status 0, saw {ended}")
        return ended

    def fails(self, words, status, *flags, env=None):
        """Tries to build it; that ends with this status, says these words, and leaves what was written before."""
        before = self.all_files()
        ended = self.heddle("build", *flags, env=env)
        if ended.status != status:
            raise Wrong(f"build: expected status {status}, saw {ended}")
        expect_in("what it says", words, ended.stderr)
        expect("files after a build that failed", self.all_files(), before)
        return ended

    def run_script(self, code, **values):
        """A script that uses heddle as a library; it prints JSON."""
        self.lay()
        path = f"{self.dir}/{self.word()}.mjs"
        checks.write(path, js(code, DIR=self.dir, **values))
        ended = checks.run("node", path, seconds=SECONDS)
        try:
            return json.loads(ended.stdout)
        except ValueError:
            raise Wrong(f"a script that uses build() or loadSite(): {ended}") from None

    # -- what came of it

    def read(self, path, output="public"):
        content = checks.read(f"{self.dir}/{output}/{path}")
        return None if content is None else content.decode("utf-8", "replace")

    def all_files(self, output="public"):
        """What is in the output folder."""
        start = f"{self.dir}/{output}/"
        return {path[len(start) :]: checks.read(path) for path in checks.files() if path.startswith(start)}

    def trace(self):
        content = checks.read(f"{self.dir}/{TRACE}")
        return content.decode("utf-8", "replace").splitlines() if content else []

    def of_page(self, url):
        text = self.read(f"{url[1:]}index.html")
        if text is None:
            raise Wrong(f"there is no {url[1:]}index.html")
        return text

    def main(self, url):
        """What was made of a page's body."""
        found = MAIN.search(self.of_page(url))
        if found is None:
            raise Wrong(f"{url} has no <main>")
        return found[1].strip()

    def title(self, url):
        found = TITLE.search(self.of_page(url))
        return found[1] if found else None

    def head(self, url):
        found = HEAD.search(self.of_page(url))
        return found[1] if found else ""

    def index(self, output="public"):
        """The rows of entries.json, which was pages.json at first."""
        for name in ("entries", "pages"):
            text = self.read(f"{name}.json", output)
            if text is not None:
                try:
                    rows = json.loads(text)[name]
                    assert isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
                    return rows
                except (ValueError, KeyError, TypeError, AssertionError):
                    raise Wrong(f"{name}.json: {text[:200]!r}") from None
        raise Wrong("there is no list of what was built")

    def urls(self):
        return [row.get("url") for row in self.index()]

    def numbers(self, key="n"):
        """A field of the pages' own, by their titles."""
        return {row.get("title"): (row.get("meta") or {}).get(key) for row in self.index()}

    def listed(self, *flags):
        """What `heddle pages --json` says, which is `heddle entries` in the end."""
        ended = self.heddle("entries", "--json", *flags)
        if ended.status == 2:
            ended = self.heddle("pages", "--json", *flags)
        try:
            rows = json.loads(ended.stdout)
            return [row["url"] for row in rows]
        except (ValueError, KeyError, TypeError):
            raise Wrong(f"heddle pages: {ended}") from None


SOUR = "SOUR"
"""The variable that says which of its plugins fails in a site of Failures."""


class Failures:
    """Cases on one site: it is built once, with all their plugins, and then each time another one fails."""

    def __init__(self):
        self._ways, self._words, self._site, self._is_built = [], [], None, False

    def add(self, name):
        """Makes a case of what adds a plugin to a site and returns the words that must be said when it fails. It is to fail
        where `sour`, a condition in JavaScript, is true."""

        def take(prepare):
            number = len(self._ways)
            self._ways.append((prepare, Code(f"(process.env.{SOUR} === '{number}')")))

            def case(site):
                shared = self.built(site)
                shared.fails(self._words[number], failed_status(), env={SOUR: str(number)})

            case.__name__ = name
            return case

        return take

    def built(self, site):
        """The site that they share, with something in it that has not been built yet."""
        if self._site is None:
            self._site = site
            site.some_pages()
            self._words = [prepare(site, sour) for prepare, sour in self._ways]
            site.build()
            expect("pages, where nothing fails", site.urls(), [page.url for page in site.in_order()])
            self._is_built = True
        if not self._is_built:
            raise Wrong("the site could not be built where nothing fails")
        self._site.pages[-1].body += " " + site.word()
        return self._site


class Sum:
    """A step of arithmetic: steps in another order make another number."""

    MODULUS = 99_991

    def __init__(self, random):
        self.factor, self.addend = random.randrange(3, 900), random.randrange(1, 9000)

    def __call__(self, number):
        return (number * self.factor + self.addend) % self.MODULUS

    def js(self, number):
        return Code(f"(({number} * {self.factor} + {self.addend}) % {self.MODULUS})")
