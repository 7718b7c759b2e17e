"""Hooks that return promises, and plugins that are made by async functions."""

from scene import Failures, Sum, expect, failed_status

SLOW = "const later = (ms) => new Promise((done) => setTimeout(done, ms))\n"


def _slow(site, hooks, name=None, **values):
    """A plugin whose hooks can wait, with `await later(5)`."""
    code = SLOW + "export default { name: $NAME, hooks: {\n" + hooks + "\n} }"
    return site.plugin(code, name, **values)


def texts_and_html(site):
    pages, words, first, second = site.some_pages(), [site.word(), site.word()], Sum(site.random), Sum(site.random)
    _slow(
        site,
        "async 'page:source'(text) { await later(9); return text + $WORD },\n"
        "async 'page:html'(html, page) { await later(9); return html + '|' + $STEP }",
        WORD=words[0],
        STEP=first.js("page.meta.n"),
    )
    _slow(
        site,
        "'page:source': async (text) => text + $WORD,\n"
        "async 'page:html'(html) { const [text, number] = html.split('|'); return text + '|' + $STEP }",
        WORD=words[1],
        STEP=second.js("number"),
    )
    site.build()
    for page in pages:
        expect(
            "HTML that two changed in turn",
            site.main(page.url),
            f"<p>{page.body}\n{''.join(words)}</p>|{second(first(page.fields['n']))}",
        )


def dropping(site):
    one, two, *kept = site.some_pages(4, 5)
    _slow(
        site,
        "async 'page:source'(text, file) { await later(4); return file !== $FILE && null },\n"
        "async 'page:parsed'(page) { await later(4); if (page.title === $TITLE) return false }",
        FILE=one.file,
        TITLE=two.title,
    )
    site.hooks("'page:parsed'(page) { trace(page.title) }")
    site.build()
    expect("addresses", sorted(site.urls()), sorted(page.url for page in kept))
    expect("what the next plugin was asked about", sorted(site.trace()), sorted(page.title for page in kept))


def fields_and_addresses(site):
    pages, step = site.some_pages(), Sum(site.random)
    places = {page.title: f"/{site.word()}/" for page in pages[1:]}
    _slow(
        site,
        "async 'page:parsed'(page) { await later(4); page.meta.n = $STEP; return { tags: [String(page.meta.n)] } },\n"
        "async 'page:url'(page) { await later(6); return $PLACES[page.title] }",
        STEP=step.js("page.meta.n"),
        PLACES=places,
    )
    _slow(
        site,
        "async 'page:parsed'(page) { page.meta.seen = page.tags[0] },\nasync 'page:url'(page) { return '/' + $NAME + '/' }",
        name := site.word(),
    )
    site.build()
    urls = {page.title: places.get(page.title, f"/{name}/") for page in pages}
    numbers = {page.title: step(page.fields["n"]) for page in pages}
    expect("addresses", {row["title"]: row["url"] for row in site.index()}, urls)
    expect("numbers", site.numbers(), numbers)
    expect(
        "numbers as the next plugin saw them",
        site.numbers("seen"),
        {title: str(number) for title, number in numbers.items()},
    )


def lists_and_layouts(site):
    site.some_pages(4, 5)
    word, end = site.word(), site.word()
    _slow(
        site,
        "async pages(list) { await later(6); return list.slice(1) },\nasync 'page:layout'(layout) { await later(3); return layout + $WORD }",
        WORD=word,
    )
    _slow(
        site,
        "async pages(list) { return [...list].reverse() },\nasync 'page:layout'(layout, page) { return layout + $END + page.url }",
        END=end,
    )
    site.build()
    kept = site.in_order()[1:][::-1]
    expect("addresses", site.urls(), [page.url for page in kept])
    for page in kept:
        expect("the end of a page", site.of_page(page.url).endswith(f"{word}{end}{page.url}"), True)


def configuration_and_files(site):
    pages, title, other, name = site.some_pages(), site.word(), site.word(), site.word()
    _slow(
        site,
        "async config(config) { await later(8); return { title: config.title + $A } },\n"
        "async files(site) { await later(8); return { [$FILE]: site.title } }",
        A=title,
        FILE=name,
    )
    _slow(
        site,
        "async config(config) { return { title: config.title + $B } },\nfiles: async () => ({ [$B]: $B })",
        B=other,
    )
    site.build()
    expect("files", (site.read(name), site.read(other)), (site.config["title"] + title + other, other))
    expect("addresses", sorted(site.urls()), sorted(page.url for page in pages))


def done_is_waited_for(site):
    site.some_pages()
    words = [site.word() for _ in range(3)]
    _slow(site, "async done() { await later(40); trace($A) }", A=words[0])
    name = _slow(site, "async done() { await later(20); throw new Error($B) }", B=words[1])
    _slow(site, "async done(report, { warn }) { trace($C); await later(30); warn($C) }", C=words[2])
    ended = site.build()
    expect("what was done, in order", site.trace(), [words[0], words[2]])
    lines = [line for line in ended.stderr.splitlines() if "warning" in line]
    expect("warnings", [len([line for line in lines if word in line]) for word in words], [0, 1, 1])
    expect("who it was", len([line for line in lines if name in line and words[1] in line]), 1)


def made_by_async_functions(site):
    pages = site.some_pages()
    words = [site.word() for _ in range(2)]
    site.plugin(
        SLOW
        + "export default async ({ word }) => { await later(30); return { name: $NAME, hooks: { 'page:html': (html) => html + word } } }",
        options={"word": words[0]},
    )
    site.hooks("'page:html'(html) { return html + $WORD }", WORD=words[1])
    site.build()
    for page in pages:
        expect("a page", site.main(page.url), page.html + "".join(words))
    for page in pages:
        page.body += " " + site.word()
    bad = f"plugins/{site.word()}.js"
    site.file(bad, SLOW + f"export default async () => {{ await later(5); throw new Error('{words[0]}') }}")
    site.plugins.append(f"./{bad}")
    site.fails([bad, words[0]], failed_status())


def never_two_at_once(site):
    site.some_pages(4, 5)
    start = "if (globalThis.busy) trace('two at once: ' + globalThis.busy); globalThis.busy = "
    hooks = ("config", "page:source", "page:parsed", "page:url", "pages", "page:html", "page:layout", "files", "done")
    for _ in range(2):
        _slow(
            site,
            ",\n".join(
                f"async '{hook}'() {{ {start}'{hook}'; await later(1); globalThis.busy = ''; trace('{hook}') }}"
                for hook in hooks
            ),
        )
    site.build()
    count = len(site.pages)
    often = {hook: 2 if hook in ("config", "pages", "files", "done") else 2 * count for hook in hooks}
    seen = site.trace()
    expect("two at once", [line for line in seen if line.startswith("two")], [])
    expect("how often each came", {hook: seen.count(hook) for hook in hooks}, often)


REJECTED = Failures()


def rejected(hook, arguments):
    @REJECTED.add(f"rejected: {hook}")
    def prepare(site, sour):
        word = site.word()
        code = f"async '{hook}'({arguments}) {{ await later(3); if ($SOUR) throw new Error($WORD) }}"
        return [_slow(site, code, WORD=word, SOUR=sour), word]

    return prepare


CASES = (
    *(texts_and_html, dropping, fields_and_addresses, lists_and_layouts, configuration_and_files, done_is_waited_for),
    *(
        made_by_async_functions,
        never_two_at_once,
        rejected("page:layout", "layout, page"),
        rejected("files", "site"),
        rejected("pages", "list"),
    ),
)
