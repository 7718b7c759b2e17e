"""A plugin that fails: who it was is said, and nothing is written. The same site without the failure is built before."""

from scene import expect, failed_status, js, names_of

FAIL = "SOUR"
"""The variable that makes plugins fail."""
SOUR = {FAIL: "yes"}


def failing(hook, arguments, code, where="", words=(), then=""):
    """A case: a plugin that fails in a hook; `where` picks a page, or is empty where none is meant."""

    def case(site):
        pages = site.some_pages()
        lucky, word = site.random.choice(pages), site.word()
        picked = js(where or "true", FILE=lucky.file, TITLE=lucky.title)
        before = site.hooks("'page:html'(html) { return html + '.' }")
        name = site.hooks(
            f"'{hook}'({arguments}) {{ if (process.env.{FAIL} && {picked}) {{ " + js(code, WORD=word) + " }" + then + " }"
        )
        site.build()
        for page in pages:
            expect("a page where nothing fails", site.main(page.url), f"{page.html}.")
        for page in pages:
            page.body += " " + site.word()
        wanted = [name, names_of(hook), *words, *([lucky.file] if where else []), *([word] if "$WORD" in code else [])]
        site.fails(wanted, failed_status(), env=SOUR)
        assert before != name

    case.__name__ = f"{hook}: {code}"
    return case


def fails_in_config(site):
    site.some_pages()
    word = site.word()
    name = site.hooks(f"config() {{ if (process.env.{FAIL}) throw new RangeError($WORD); return {{ output: 'public' }} }}", WORD=word)
    site.hooks("'page:source'() { if (process.env.SOUR) trace('read') }")
    site.build()
    site.fails([name, "config", word], failed_status(), env=SOUR)
    expect("what was read", site.trace(), [])


def two_write_one_file(site):
    site.some_pages()
    path, other = f"{site.word()}.txt", f"{site.word()}.txt"
    site.hooks("files() { return { [$PATH]: 'one' } }", PATH=path)
    name = site.hooks(f"files() {{ return {{ [process.env.{FAIL} ? $PATH : $OTHER]: 'two' }} }}", PATH=path, OTHER=other)
    site.build()
    expect("two files of two plugins", (site.read(path), site.read(other)), ("one", "two"))
    site.fails([name, "files", path], failed_status(), env=SOUR)


def writes_one_of_ours(path):
    def case(site):
        pages, good = site.some_pages(), site.word()
        wanted = path or f"{pages[0].url[1:]}index.html"
        name = site.hooks(f"files() {{ return {{ [process.env.{FAIL} ? $PATH : $GOOD]: 'mine' }} }}", PATH=wanted, GOOD=good)
        site.build()
        expect("a file of its own", site.read(good), "mine")
        site.fails([name, "files"], failed_status(), env=SOUR)

    case.__name__ = f"writes_one_of_ours: {path or 'a page'}"
    return case


def done_comes_too_late(site):
    pages, word = site.some_pages(), site.word()
    name = site.hooks("done() { throw new Error($WORD) }", WORD=word)
    site.hooks("done(report) { trace(String(report.written.length > 0)) }")
    ended = site.build()
    lines = [line for line in ended.stderr.splitlines() if word in line and name in line and "warning" in line]
    expect("warnings of what done threw", len(lines), 1)
    expect("what the next one was told", site.trace(), ["true"])
    expect("pages", sorted(site.urls()), sorted(page.url for page in pages))


OF_TITLE, OF_FILE = "page.title === $TITLE", "file === $FILE"
FAILING = (
    failing("page:source", "text, file", "throw new Error($WORD)", OF_FILE),
    failing("page:source", "text, file", "return 7", OF_FILE),
    failing("page:parsed", "page", "throw new Error($WORD)", "page.meta.n && " + OF_TITLE),
    failing("page:parsed", "page", "return 'title'", OF_TITLE),
    failing("page:url", "page", "return 12", OF_TITLE),
    failing("pages", "list", "throw new Error($WORD)"),
    failing("pages", "list", "return { pages: list }"),
    failing("page:html", "html, page", "throw new Error($WORD)", OF_TITLE),
    failing("page:html", "html, page", "return false", OF_TITLE),
    failing("page:layout", "layout, page", "return 1", OF_TITLE),
    failing("files", "site", "throw new Error($WORD)"),
    failing("files", "site", "return { 'a/../../../x.txt': $WORD }".replace("$WORD", "'x'")),
    failing("files", "site", "return { 'x.txt': 5 }"),
    fails_in_config,
    two_write_one_file,
    writes_one_of_ours("style.css"),
    writes_one_of_ours("./sitemap.txt"),
    writes_one_of_ours(""),
    done_comes_too_late,
)


# -- what is no plugin


def refused(words, bad, good="export default { name: $NAME, hooks: {} }"):
    """A case: a file that is no plugin; with something better in its place the site is built."""

    def case(site):
        pages, name = site.some_pages(), site.word()
        site.hooks("'page:html'(html) { return html + '!' }")
        path = f"plugins/{site.word()}.js"
        site.plugins.append(f"./{path}")
        site.file(path, js(good, NAME=name))
        site.build()
        expect("a page, with good plugins", site.main(pages[0].url), f"{pages[0].html}!")
        for page in pages:
            page.body += " " + site.word()
        site.file(path, js(bad, NAME=name))
        site.fails([[one.replace("$PATH", path).replace("$NAME", name) for one in word] for word in words], failed_status())

    case.__name__ = f"refused: {bad}"
    return case


def nowhere(site):
    site.some_pages()
    site.hooks("files() { return { 'a.txt': 'a' } }")
    site.build()
    missing = f"plugins/{site.word()}.js"
    site.plugins.insert(0, f"./{missing}")
    site.fails([missing], failed_status())


def two_of_one_name(site):
    site.some_pages()
    name = site.hooks("files() { return { 'a.txt': 'a' } }")
    site.build()
    expect("its file", site.read("a.txt"), "a")
    site.hooks("files() { return { 'b.txt': 'b' } }", name=name)
    site.fails([name], failed_status())


REFUSING = (
    nowhere,
    two_of_one_name,
    refused([("$PATH",), ("sour milk",)], "throw new Error('sour milk')"),
    refused([("$PATH",)], "export default { name: $NAME hooks"),
    refused([("$PATH",), ("no options",)], "export default () => { throw new Error('no options') }"),
    refused([("$PATH",)], "export default { hooks: {} }"),
    refused([("$NAME", "$PATH")], "export default { name: $NAME }"),
    refused([("$PATH",)], "export const name = $NAME"),
    refused([("$PATH",)], "export default () => null"),
    refused([("$PATH",)], "export default 'none'"),
)


# -- typos, which were refused at first


def typo(site):
    pages = site.some_pages()
    right = site.random.choice(["config", "page:source", "page:parsed", "page:url", "pages", "page:layout", "files", "done"])
    at = site.random.randrange(1, len(right))
    wrong = site.random.choice([right[:at] + right[at - 1 :], right[:at] + site.random.choice("xqw") + right[at:]])
    name = site.hooks(f"'{right}'() {{}},\n'page:html'(html) {{ return html + '!' }}")
    site.build()
    expect("a page, without the typo", site.main(pages[0].url), f"{pages[0].html}!")
    for path, content in site.written.items():
        site.written[path] = content.replace(f"'{right}'", f"'{wrong}'")
    for page in pages:
        page.body += " " + site.word()
    site.fails([name, wrong], failed_status())


TYPOS = (typo,) * 8
