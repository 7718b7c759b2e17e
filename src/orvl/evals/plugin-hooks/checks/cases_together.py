"""Plugins and sites of before beside those that speak of entries."""

from cases_deprecated import flag, told
from scene import Sum, expect, failed_status, new_hook


def in_one_order(site):
    pages, steps = site.some_pages(), [Sum(site.random) for _ in range(4)]
    for index, step in enumerate(steps):
        thing = ("page", "entry")[index % 2]
        site.hooks(f"'{thing}:parsed'({thing}) {{ {thing}.meta.n = $STEP }}", STEP=step.js(f"{thing}.meta.n"))
    ended = site.build()
    wanted = {}
    for page in pages:
        number = page.fields["n"]
        for step in steps:
            number = step(number)
        wanted[page.title] = number
    expect("numbers that old and new changed in turn", site.numbers(), wanted)
    expect("warnings", ended.stderr, "")


def in_an_order_of_their_own(site):
    site.page()
    names = [site.word() for _ in range(4)]
    site.plugin(
        "after: $A, hooks: { 'page:source'(text) { trace($NAME); return text + $NAME }, pages() { trace($NAME) } }",
        names[0],
        A=[names[3]],
    )
    site.plugin(
        "hooks: { 'entry:source': { run(text) { trace($NAME); return text + $NAME }, after: $A }, entries() { trace($NAME) } }",
        names[1],
        A=names[0],
    )
    site.plugin(
        "hooks: { 'page:source': { run(text) { trace($NAME); return text + $NAME }, before: $A }, pages: { run() { trace($NAME) }, before: $A } }",
        names[2],
        A=[names[3], names[0]],
    )
    site.plugin(
        "hooks: { 'entry:source'(text) { trace($NAME); return text + $NAME }, entries() { trace($NAME) } }", names[3]
    )
    site.build()
    order = [names[2], names[3], names[0], names[1]]
    lists = [names[1], names[2], names[3], names[0]]
    expect("the order", site.trace(), order + lists)
    expect("the text", site.main(site.pages[0].url), site.pages[0].html.replace("</p>", "\n" + "".join(order) + "</p>"))


def a_circle_of_both(site):
    site.page()
    one, two = site.word(), site.word()
    site.plugin("after: process.env.SOUR ? $A : [], hooks: { 'entry:source'(text) { return text + '1' } }", one, A=two)
    site.plugin("after: $A, hooks: { 'page:source'(text) { return text + '2' } }", two, A=one)
    site.build()
    expect("the text", site.main(site.pages[0].url).endswith("\n12</p>"), True)
    site.pages[0].body += " " + site.word()
    site.fails([one, two], failed_status(), env={"SOUR": "yes"})


def under_both_names(site):
    site.some_pages()
    words = [site.word() for _ in range(3)]
    site.hooks(
        "'page:parsed'() { trace('old') }, pages() { trace('old') }, 'page:layout'() { trace('old') }, 'page:source'() { return false },\n"
        f"'{new_hook()}'() {{ trace('old') }}, 'page:html'() {{ trace('old') }},\n"
        "'entry:parsed'(entry) { entry.meta.seen = $A }, entries(entries) { return entries.slice(1) }, 'entry:layout'(text) { return text + $B }, 'entry:source'() {},\n"
        f"'{new_hook('entry')}'({{ html }}) {{ return html + $C }}",
        A=words[0],
        B=words[1],
        C=words[2],
    )
    ended = site.build(flag())
    kept = site.in_order()[1:]
    expect("what the old ones did", site.trace(), [])
    expect("addresses", site.urls(), [page.url for page in kept])
    expect("what the new ones did", set(site.numbers("seen").values()), {words[0]})
    for page in kept:
        expect(
            "an entry", (site.main(page.url), site.of_page(page.url).endswith(words[1])), (page.html + words[2], True)
        )
    expect("warnings", ended.stderr, "")


def one_configuration(site):
    site.some_pages(7, 8)
    site.config["baseUrl"] = f"https://{site.word()}.example"
    site.config["pagesInFeed"] = first = site.random.randint(1, 2)
    word = site.word()
    site.hooks(
        "config(config) { return { pagesInFeed: config.pagesInFeed + 2, pageTitle: $WORD + '[[page.title]]' } }",
        WORD=word,
    )
    site.hooks(
        "config(config) { trace(String(config.entriesInFeed)); return { entriesInFeed: config.entriesInFeed + 1, entryTitle: config.entryTitle + '[[entry.meta.n]]' } }"
    )
    site.hooks(
        "config(config) { trace(String(config.pagesInFeed)); return { pagesInFeed: config.pagesInFeed + 1 } },\n"
        "files(site, { config }) { trace(config.pagesInFeed + config.pageTitle) }"
    )
    site.hooks("files(site, { config }) { trace(String(config.entriesInFeed)) }")
    ended = site.build()
    title = f"{word}[[page.title]][[entry.meta.n]]"
    expect("what plugins saw", site.trace(), [str(first + 2), str(first + 3), f"{first + 4}{title}", str(first + 4)])
    expect("entries in the feed", (site.read("feed.xml") or "").count("    <title>"), first + 4)
    page = site.pages[0]
    expect("the title", site.title(page.url), f"{word}{page.title}{page.fields['n']}")
    expect("warnings", ended.stderr, "")


def one_site(site):
    pages, tag = site.some_pages(4, 5), site.word()
    pages[1].fields["tags"] = tag
    site.hooks(
        "pages(list, { site }) { trace(site.pages.length + site.page($URL).title + site.pagesTagged($TAG)[0].url); return list.slice(1) },\n"
        "'page:layout'(layout, page) { trace([page.previousPage?.title, page.nextPage?.title].join()) },\n"
        "files(site) { trace(site.pages.map((page) => page.title).join()) },\ndone(report) { trace(String(report.pages)) }",
        URL=pages[0].url,
        TAG=tag,
    )
    site.hooks(
        "entries(list, { site }) { return [...list].reverse() },\nfiles(site) { trace(site.entries.map((entry) => entry.title).join()) },\ndone(report) { trace(String(report.entries)) }"
    )
    site.build()
    order = [page.title for page in site.in_order()[1:][::-1]]
    around = ["", *order, ""]
    wanted = [
        f"{len(pages)}{pages[0].title}{pages[1].url}",
        *(f"{around[at]},{around[at + 2]}" for at in range(len(order))),
    ]
    expect(
        "what old and new saw",
        site.trace(),
        [*wanted, ",".join(order), ",".join(order), str(len(order)), str(len(order))],
    )


def one_layout(site):
    site.some_pages()
    sign = site.word()
    site.hooks(
        "'page:layout'(layout, page) { return $SIGN + '[[page.title]]([[=page.html]])[[page.nextPage.title]]' }",
        SIGN=sign,
    )
    site.hooks(
        "'entry:layout'(layout, entry) { return layout + '[[entry.title]]([[entry.meta.n]])[[entry.nextEntry.title]]' }"
    )
    site.build()
    order = site.in_order()
    for page, after in zip(order, [*order[1:], None]):
        title = after.title if after else ""
        expect(
            "a layout",
            site.of_page(page.url),
            f"{sign}{page.title}({page.html}){title}{page.title}({page.fields['n']}){title}",
        )


def one_markup(site):
    pages, words = site.some_pages(), [site.word() for _ in range(4)]
    site.hooks(f"'{new_hook()}'({{ html, page }}) {{ return {{ html: html + page.title, head: $W }} }}", W=words[0])
    site.hooks(
        f"'{new_hook('entry')}'({{ html, entry }}) {{ return {{ html: html + entry.meta.n, head: $W }} }}", W=words[1]
    )
    name = site.hooks("'page:html'(html, page) { return html + page.url + $W }", W=words[2])
    site.hooks(f"'{new_hook()}'(given) {{ return given.html + given.page.file + $W }}", W=words[3])
    ended = site.build()
    for page in pages:
        expect(
            "HTML",
            site.main(page.url),
            f"{page.html}{page.title}{page.fields['n']}{page.url}{words[2]}{page.file}{words[3]}",
        )
        expect("heads", [site.head(page.url).count(word) for word in words], [1, 1, 0, 0])
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    expect("warnings", (len(told(ended, name)), len(lines)), (1, 1))


def one_class(site):
    site.some_pages()
    title, other = site.word(), site.word()
    site.plugin(
        "import { Page } from 'heddle'\n"
        "export default { name: $NAME, hooks: { pages(list) { return [new Page({ url: '/' + $A + '/', title: $A, body: $A }), ...list.filter((one) => one instanceof Page)] } } }",
        A=title,
    )
    site.plugin(
        "import { Entry } from 'heddle'\n"
        "export default { name: $NAME, hooks: { entries(list) { return [...list.filter((one) => one instanceof Entry), new Entry({ url: '/' + $A + '/', title: $A, body: $A })] } } }",
        A=other,
    )
    site.build()
    expect("addresses", site.urls(), [f"/{title}/", *(page.url for page in site.in_order()), f"/{other}/"])
    expect("an entry", site.main(f"/{title}/"), f"<p>{title}</p>")


TOGETHER = (
    *(
        in_one_order,
        in_an_order_of_their_own,
        a_circle_of_both,
        under_both_names,
        one_configuration,
        one_site,
        one_layout,
    ),
    *(one_markup, one_class),
)


# -- sites of before


def _is_new(site):
    expect("entries.json", (site.read("pages.json"), bool(site.read("entries.json"))), (None, True))


def title_of_pages(site):
    site.some_pages()
    word = site.word()
    site.config["pageTitle"] = f"[[page.meta.n]] {word} [[page.title]] [[page.nextPage.title]]."
    ended = site.build()
    order = site.in_order()
    for page, after in zip(order, [*order[1:], None]):
        expect(
            "the title", site.title(page.url), f"{page.fields['n']} {word} {page.title} {after.title if after else ''}."
        )
    expect("warnings", ended.stderr, "")
    _is_new(site)


def pages_in_feed(site):
    site.some_pages(5, 6)
    count = site.random.randint(1, 4)
    site.config |= {"baseUrl": f"https://{site.word()}.example", "pagesInFeed": count}
    ended = site.build()
    expect("how many are in the feed", (site.read("feed.xml") or "").count("    <title>"), count)
    expect("warnings", ended.stderr, "")
    _is_new(site)


def theme_with_pages(site):
    site.some_pages()
    theme, sign = site.word(), site.word()
    site.config["theme"] = theme
    site.file(
        f"{theme}/page.html", f"{sign}[[page.title]]|[[=page.html]]|[[page.previousPage.title]]|[[page.nextPage.url]]"
    )
    ended = site.build()
    order = [None, *site.in_order(), None]
    for before, page, after in zip(order, order[1:], order[2:]):
        expect(
            "a page",
            site.of_page(page.url),
            f"{sign}{page.title}|{page.html}|{before.title if before else ''}|{after.url if after else ''}",
        )
    expect("warnings", ended.stderr, "")
    _is_new(site)


def list_of_pages(site):
    site.some_pages()
    theme, sign = site.word(), site.word()
    site.config["theme"] = theme
    site.file(f"{theme}/list.html", f"{sign}[[#pages]][[page.title]]({sign})[[page.url]],[[/pages]][[site.title]]")
    site.build()
    rows = "".join(f"{page.title}({sign}){page.url}," for page in site.in_order())
    expect("the list", site.read("index.html"), f"{sign}{rows}{site.config['title']}")
    _is_new(site)


def theme_and_old_plugins(site):
    pages, theme, sign, word = site.some_pages(), site.word(), site.word(), site.word()
    site.config["theme"] = theme
    site.file(f"{theme}/page.html", f"{sign}[[=head]]{sign}[[=page.html]][[page.meta.n]]")
    site.hooks(
        f"'{new_hook()}'({{ html, page }}) {{ return {{ html: html + $WORD, head: page.title }} }},\n"
        "'page:layout'(layout) { return layout + '[[page.url]]' }",
        WORD=word,
    )
    ended = site.build()
    for page in pages:
        expect(
            "a page", site.of_page(page.url), f"{sign}{page.title}{sign}{page.html}{word}{page.fields['n']}{page.url}"
        )
    expect("warnings", ended.stderr, "")
    _is_new(site)


def keys_of_old_plugins(site):
    site.some_pages(5, 6)
    site.config |= {"baseUrl": f"https://{site.word()}.example", "pagesInFeed": 4}
    site.hooks("config(config) { return { pagesInFeed: 5, sort: 'url' } }")
    site.build()
    expect("how many a plugin puts into the feed", (site.read("feed.xml") or "").count("    <title>"), 5)
    expect("addresses", site.urls(), sorted(page.url for page in site.pages))
    _is_new(site)


def everything_of_before(site):
    pages, theme, word = site.some_pages(5, 6), site.word(), site.word()
    site.config |= {
        "theme": theme,
        "pageTitle": "[[page.title]]+[[site.title]]",
        "pagesInFeed": 2,
        "baseUrl": f"https://{site.word()}.example",
    }
    site.file(f"{theme}/page.html", "[[=title]]/[[=page.html]]")
    site.file(f"{theme}/list.html", "[[title]][[#pages]]-[[page.meta.n]][[/pages]]")
    name = site.hooks("'page:html'(html, page) { return html + $WORD + page.url }", WORD=word)
    ended = site.build()
    for page in pages:
        expect("a page", site.of_page(page.url), f"{page.title}+{site.config['title']}/{page.html}{word}{page.url}")
    expect(
        "the list",
        site.read("index.html"),
        site.config["title"] + "".join(f"-{page.fields['n']}" for page in site.in_order()),
    )
    expect("how many are in the feed", (site.read("feed.xml") or "").count("    <title>"), 2)
    expect("warnings", (len(told(ended, name)), len(ended.stderr.strip().splitlines())), (1, 1))
    _is_new(site)


def mistakes_are_still_told(site):
    site.some_pages()
    site.config["pagesInFeed"] = "many"
    expect("status", site.heddle("build").status, 2)
    site.config = {"title": site.word(), "pagesInFed": 3}
    expect("status", site.heddle("build").status, 2)
    site.config = {"title": site.word(), "pagesInFeed": 3}
    site.build()
    _is_new(site)


SITES = (
    *(title_of_pages, pages_in_feed, theme_with_pages, list_of_pages, theme_and_old_plugins, keys_of_old_plugins),
    *(everything_of_before, mistakes_are_still_told),
)
