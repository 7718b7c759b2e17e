"""A plugin that fails: who it was is said, and nothing is written. The same site without the failure is built before."""

from scene import Failures, expect, failed_status, js, names_of

ALL = Failures()


def failing(hook, arguments, code, where=""):
    """A case: a plugin that fails in a hook; `where` picks a page, or is empty where none is meant."""

    @ALL.add(f"{hook}: {code}")
    def prepare(site, sour):
        lucky, word = site.random.choice(site.pages[:-1]), site.word()
        picked = js(where or "true", FILE=lucky.file, TITLE=lucky.title)
        name = site.hooks(f"'{hook}'({arguments}) {{ if ($SOUR && {picked}) {{ {code} }} }}", SOUR=sour, WORD=word)
        return [name, names_of(hook), *([lucky.file] if where else []), *([word] if "$WORD" in code else [])]

    return prepare


@ALL.add("before anything is read")
def in_config(site, sour):
    word = site.word()
    return [site.hooks("config() { if ($SOUR) throw new RangeError($WORD) }", SOUR=sour, WORD=word), "config", word]


@ALL.add("two write one file")
def two_write(site, sour):
    path, other = f"{site.word()}.txt", f"{site.word()}.txt"
    site.hooks("files() { return { [$PATH]: 'one' } }", PATH=path)
    return [
        site.hooks("files() { return { [$SOUR ? $PATH : $OTHER]: 'two' } }", SOUR=sour, PATH=path, OTHER=other),
        "files",
        path,
    ]


def ours(path):
    @ALL.add(f"writes one of ours: {path or 'a page'}")
    def prepare(site, sour):
        wanted = path or f"{site.pages[0].url[1:]}index.html"
        return [
            site.hooks(
                "files() { return { [$SOUR ? $PATH : $GOOD]: 'mine' } }", SOUR=sour, PATH=wanted, GOOD=site.word()
            ),
            "files",
        ]

    return prepare


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
    failing("page:parsed", "page", "throw new Error($WORD)", OF_TITLE),
    failing("page:parsed", "page", "return 'title'", OF_TITLE),
    failing("page:url", "page", "return 12", OF_TITLE),
    failing("pages", "list", "throw new Error($WORD)"),
    failing("pages", "list", "return { pages: list }"),
    failing("page:html", "html, page", "throw new Error($WORD)", OF_TITLE),
    failing("page:html", "html, page", "return false", OF_TITLE),
    failing("page:layout", "layout, page", "return 1", OF_TITLE),
    failing("files", "site", "throw new Error($WORD)"),
    failing("files", "site", "return { 'a/../../../x.txt': 'x' }"),
    failing("files", "site", "return { 'x.txt': 5 }"),
    *(in_config, two_write, ours("style.css"), ours("./sitemap.txt"), ours("")),
    done_comes_too_late,
)


# -- what is no plugin

NONE = Failures()


def refused(bad, *words):
    """A case: one more plugin, which is none. Words that must be said: $PATH, $NAME, $WORD, or one of several."""

    def case(site):
        shared = NONE.built(site)
        path = f"plugins/{site.word()}.js"
        told = {"$PATH": path, "$NAME": site.word(), "$WORD": site.word()}
        shared.file(path, js(bad, NAME=told["$NAME"], WORD=told["$WORD"]))
        _with_plugin(shared, path, [[told[one] for one in word.split()] for word in words])

    case.__name__ = f"refused: {bad}"
    return case


def _with_plugin(site, path, words):
    expect("what a good plugin wrote", site.read("a.txt"), "a")
    site.plugins.insert(1, f"./{path}")
    try:
        site.fails(words, failed_status())
    finally:
        del site.plugins[1]


def nowhere(site):
    path = f"plugins/{site.word()}.js"
    _with_plugin(NONE.built(site), path, [path])


@NONE.add("two of one name")
def two_of_one_name(site, sour):
    name, other = site.word(), site.word()
    site.hooks("files() { return { 'a.txt': 'a' } }", name)
    site.plugin("export default { name: $SOUR ? $A : $B, hooks: {} }", SOUR=sour, A=name, B=other)
    return [name]


REFUSING = (
    two_of_one_name,
    nowhere,
    refused("throw new Error($WORD)", "$PATH", "$WORD"),
    refused("export default { name: $NAME hooks", "$PATH"),
    refused("export default () => { throw new Error($WORD) }", "$PATH", "$WORD"),
    refused("export default { hooks: {} }", "$PATH"),
    refused("export default { name: $NAME }", "$NAME $PATH"),
    refused("export const name = $NAME", "$PATH"),
    refused("export default () => null", "$PATH"),
    refused("export default 'none'", "$PATH"),
)


# -- typos, which were refused at first

ODD = Failures()


def typo(right):
    @ODD.add(f"typo: {right}")
    def prepare(site, sour):
        at = site.random.randrange(1, len(right))
        wrong = site.random.choice([right[:at] + right[at - 1 :], right[:at] + site.random.choice("xqw") + right[at:]])
        name = site.hooks("[$SOUR ? $WRONG : $RIGHT]() {}", SOUR=sour, WRONG=wrong, RIGHT=right)
        return [name, wrong]

    return prepare


TYPOS = tuple(map(typo, ("config", "page:source", "page:parsed", "page:url", "pages", "page:layout", "files", "done")))
