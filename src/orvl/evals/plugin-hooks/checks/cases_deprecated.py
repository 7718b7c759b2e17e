"""The hook that takes the place of page:html, page:html itself, and hooks that nobody knows."""

from orvl import checks

from scene import Failures, Sum, expect, expect_in, failed_status, new_hook


def flag():
    return f"--{checks.drawn()['flag']}"


def _new(site, code, name=None, **values):
    """A plugin with the new hook; `code` is its function from the parameters on."""
    return site.hooks(f"'{new_hook()}'{code}", name, **values)


def gets_and_returns_html(site):
    pages, first, second = site.some_pages(), Sum(site.random), Sum(site.random)
    _new(site, "({ html, page }) { return html + '|' + $STEP }", STEP=first.js("page.meta.n"))
    _new(site, "() {}")
    _new(
        site,
        "({ html }) { const [text, number] = html.split('|'); return { html: text + '|' + $STEP } }",
        STEP=second.js("number"),
    )
    _new(site, "(given) { return { html: given.html + given.page.url } }")
    ended = site.build()
    for page in pages:
        expect("HTML", site.main(page.url), f"{page.html}|{second(first(page.fields['n']))}{page.url}")
    expect("warnings", ended.stderr, "")


def heads_go_to_the_head(site):
    pages, word = site.some_pages(), site.word()
    lucky = pages[1]
    _new(
        site,
        "({ html, page }) { if (page.title === $TITLE) return { head: '<meta name=\"' + $WORD + page.meta.n + '\">' } }",
        TITLE=lucky.title,
        WORD=word,
    )
    site.build()
    piece = f'<meta name="{word}{lucky.fields["n"]}">'
    for page in pages:
        expect("pieces in the head", site.head(page.url).count(piece), int(page is lucky))
        expect("pieces on the page", site.of_page(page.url).count(word), int(page is lucky))
        expect("HTML", site.main(page.url), page.html)


def heads_with_html(site):
    pages, words = site.some_pages(), [site.word() for _ in range(3)]
    for word in words:
        _new(site, "({ html }) { return { html: html + $WORD, head: '<link rel=\"' + $WORD + '\">' } }", WORD=word)
    site.build()
    for page in pages:
        head = site.head(page.url)
        expect("pieces in the head", [head.count(f'<link rel="{word}">') for word in words], [1, 1, 1])
        expect("their order", sorted(words, key=head.index), words)
        expect("HTML", site.main(page.url), page.html + "".join(words))


def each_piece_once(site):
    pages, words = site.some_pages(), [site.word(), site.word()]
    for index in (0, 1, 0, 1, 0):
        _new(site, "() { return { head: '<script src=\"' + $WORD + '\"></script>' } }", WORD=words[index])
    site.build()
    for page in pages:
        head = site.head(page.url)
        expect("pieces in the head", [head.count(word) for word in words], [1, 1])
        expect("their order", head.index(words[0]) < head.index(words[1]), True)


def heads_in_layouts(site):
    pages, word, sign = site.some_pages(), site.word(), site.word()
    site.config["theme"] = site.word()
    site.file(f"{site.config['theme']}/page.html", f"{sign}[[=head]]{sign}[[=page.html]]{sign}[[=head]]")
    _new(site, "({ page }) { return { head: '<' + $WORD + page.meta.n + '>' } }", WORD=word)
    site.hooks(
        "'page:layout'(layout, page) { if (page.title === $TITLE) return '[[=page.html]]' }", TITLE=pages[0].title
    )
    site.build()
    expect("a layout without a head", site.of_page(pages[0].url), pages[0].html)
    for page in pages[1:]:
        head = f"<{word}{page.fields['n']}>"
        expect(
            "a layout with heads",
            "".join(site.of_page(page.url).split()),
            "".join(f"{sign}{head}{sign}{page.html}{sign}{head}".split()),
        )


def layouts_of_plugins(site):
    pages, word = site.some_pages(), site.word()
    _new(site, "({ html }) { return { head: $WORD, html: html.toUpperCase() } }", WORD=word)
    site.hooks("'page:layout'(layout, page) { return '[[=page.html]]([[=head]])' }")
    site.build()
    for page in pages:
        expect("a page", "".join(site.of_page(page.url).split()), "".join(f"{page.html.upper()}({word})".split()))


def waits_and_has_a_place(site):
    pages, words = site.some_pages(), [site.word(), site.word()]
    last = site.word()
    _new(
        site,
        ": { async run({ html }) { await null; return { html: html + $WORD } }, after: [$LAST] }",
        WORD=words[0],
        LAST=last,
    )
    _new(site, ": async ({ html }) => html + $WORD", last, WORD=words[1])
    site.build()
    for page in pages:
        expect("HTML", site.main(page.url), page.html + words[1] + words[0])


ODD = Failures()


def fails(answer):
    @ODD.add(f"fails: {answer}")
    def prepare(site, sour):
        lucky = site.random.choice(site.pages)
        name = _new(
            site,
            f"({{ html, page }}) {{ return page.title === $TITLE && $SOUR ? {answer} : html }}",
            TITLE=lucky.title,
            SOUR=sour,
        )
        return [name, {new_hook(), new_hook("entry")}, lucky.file]

    return prepare


MARKUP = (
    *(
        gets_and_returns_html,
        heads_go_to_the_head,
        heads_with_html,
        each_piece_once,
        heads_in_layouts,
        layouts_of_plugins,
    ),
    *(waits_and_has_a_place, fails("5"), fails("{ html: 7 }"), fails("{ head: 7 }"), fails("true")),
)


# -- page:html


def told(ended, name):
    """The warnings that a plugin uses page:html, with what to use instead."""
    return [
        line
        for line in ended.stderr.splitlines()
        if name in line and "page:html" in line and any(one in line for one in (new_hook(), new_hook("entry")))
    ]


def _old(site, code, name=None, **values):
    return site.hooks(f"'page:html'{code}", name, **values)


def works_in_its_place(site):
    pages, steps = site.some_pages(), [Sum(site.random) for _ in range(4)]
    site.hooks("'page:source'(text) { return text + '|0' }")
    change = "const at = html.indexOf('|') + 1; const n = Number(html.slice(at, -4)); "
    old, new = (
        "(html) { " + change + "return html.slice(0, at) + $STEP + '</p>' }",
        "({ html }) { " + change + "return html.slice(0, at) + $STEP + '</p>' }",
    )
    _new(site, new, STEP=steps[0].js("n"))
    _old(site, old, STEP=steps[1].js("n"))
    _new(site, new, STEP=steps[2].js("n"))
    _old(site, old, STEP=steps[3].js("n"))
    site.build()
    number = 0
    for step in steps:
        number = step(number)
    for page in pages:
        expect("old and new in turn", site.main(page.url).partition("|")[2], f"{number}</p>")


def works_in_its_order(site):
    pages, words, names = site.some_pages(), [site.word() for _ in range(4)], [site.word() for _ in range(4)]
    _new(
        site,
        ": { run: ({ html }) => html + $WORD, after: $OTHERS }",
        names[0],
        WORD=words[0],
        OTHERS=[names[1], names[2]],
    )
    _old(site, ": { run: (html) => html + $WORD, before: $OTHER }", names[1], WORD=words[1], OTHER=names[2])
    site.plugin(
        f"before: $OTHER, hooks: {{ '{new_hook()}': ({{ html }}) => html + $WORD }}",
        names[2],
        WORD=words[2],
        OTHER=names[3],
    )
    site.plugin(
        "after: $OTHER, hooks: { async 'page:html'(html) { return html + $WORD } }",
        names[3],
        WORD=words[3],
        OTHER=names[0],
    )
    site.build()
    for page in pages:
        expect("old and new in order", site.main(page.url), page.html + words[1] + words[2] + words[0] + words[3])


def one_warning_for_each(site):
    pages = site.some_pages(4, 6)
    names = [_old(site, "(html, page) { return html + page.meta.n }") for _ in range(3)]
    other = site.hooks("'page:parsed'() {}")
    ended = site.build()
    expect("warnings for each plugin", [len(told(ended, name)) for name in names], [1, 1, 1])
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    expect("warnings", (len(lines), [line for line in lines if other in line]), (3, []))
    expect("they are warnings", [line for line in lines if "warning" not in line], [])
    expect("HTML", site.main(pages[0].url), pages[0].html + str(pages[0].fields["n"]) * 3)
    expect("with --quiet", site.build("--quiet").stderr, "")


def again_in_each_build(site):
    site.some_pages()
    word, name = site.word(), site.word()
    site.file(
        "plugins/old.js", f"export default {{ name: '{name}', hooks: {{ 'page:html': (html) => html + '{word}' }} }}"
    )
    found = site.run_script(
        "import { build } from 'heddle'\nconst seen = []\nfor (let times = 0; times < 3; times++) {\n"
        "  const { warnings } = await build($DIR, { plugins: ['./plugins/old.js', { name: $OTHER, hooks: { 'page:html': () => null } }] })\n"
        "  seen.push([$NAME, $OTHER].map((name) => warnings.filter((text) => text.includes(name) && text.includes('page:html')).length))\n}\n"
        "console.log(JSON.stringify(seen))",
        NAME=name,
        OTHER=site.word(),
    )
    expect("warnings in three builds", found, [[1, 1]] * 3)
    page = site.pages[0]
    expect("HTML", site.main(page.url), page.html + word)


def both_means_the_new_one(site):
    pages, word = site.some_pages(), site.word()
    name = site.hooks(
        f"'page:html'(html) {{ trace('old'); return html + 'old' }},\n'{new_hook()}'({{ html }}) {{ return html + $WORD }}",
        WORD=word,
    )
    other = _old(site, "(html) { return html + '.' }")
    ended = site.build()
    for page in pages:
        expect("HTML", site.main(page.url), page.html + word + ".")
    expect("what the old one did", site.trace(), [])
    expect("warnings", ([line for line in ended.stderr.splitlines() if name in line], len(told(ended, other))), ([], 1))


def an_error_if_you_like(site):
    pages, word = site.some_pages(), site.word()
    name = _old(site, "(html) { trace('asked'); return html + $WORD }", WORD=word)
    site.build()
    expect("HTML", site.main(pages[0].url), pages[0].html + word)
    for page in pages:
        page.body += " " + site.word()
    site.fails([name, "page:html"], failed_status(), flag())
    site.build()
    expect("HTML, without the flag", site.main(pages[0].url), pages[0].html + word)


def no_error_for_new_ones(site):
    pages, words = site.some_pages(), [site.word(), site.word()]
    _new(site, "({ html }) { return html + $WORD }", WORD=words[0])
    site.hooks(
        f"'page:html'(html) {{ return html + 'old' }},\n'{new_hook()}'({{ html }}) {{ return html + $WORD }}",
        WORD=words[1],
    )
    site.build(flag())
    for page in pages:
        expect("HTML, with the flag", site.main(page.url), page.html + "".join(words))
    name = _old(site, "(html) { return html }")
    site.fails([name], failed_status(), flag())


def old_ones_still_fail(site):
    pages = site.some_pages()
    name = _old(
        site,
        "(html, page) { if (page.title === $TITLE) return process.env.SOUR ? { html } : undefined }",
        TITLE=pages[0].title,
    )
    ended = site.build()
    expect("warnings", len(told(ended, name)), 1)
    pages[1].body += " " + site.word()
    site.fails([name, pages[0].file], failed_status(), env={"SOUR": "yes"})


DEPRECATED = (
    *(works_in_its_place, works_in_its_order, one_warning_for_each, again_in_each_build, both_means_the_new_one),
    *(an_error_if_you_like, no_error_for_new_ones, old_ones_still_fail),
)


# -- hooks that nobody knows


def unknown(site):
    pages, step, count = site.some_pages(), Sum(site.random), site.random.randint(1, 2)
    names = [f"{site.random.choice(('page:', '', 'site:'))}{site.word()}" for _ in range(count)]
    odd = "".join(f"'{name}'() {{ trace('{name}') }},\n" for name in names)
    other = site.random.choice(("'page:url'() {},", "files: () => null,", ""))
    name = site.hooks(odd + other + "'page:parsed'(page) { page.meta.n = $STEP }", STEP=step.js("page.meta.n"))
    ended = site.build()
    expect("numbers", site.numbers(), {page.title: step(page.fields["n"]) for page in pages})
    expect("what unknown hooks did", site.trace(), [])
    lines = [line for line in ended.stderr.splitlines() if "warning" in line and name in line]
    expect_in("warnings", names, "\n".join(lines))
    expect("that they are few", len(lines) <= count, True)


UNKNOWN = (unknown,) * 8
