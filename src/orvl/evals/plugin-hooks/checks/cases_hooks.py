"""What hooks may return, and what becomes of it."""

from scene import Sum, expect


def source_is_passed_on(site):
    """Each gets the text that the one before returned; who returns nothing changes nothing."""
    one, two = site.some_pages()[:2]
    marks = [site.word() for _ in range(3)]
    site.hooks("'page:source'(text, file) { return text + '\\n\\n' + $A + file.length }", A=marks[0])
    site.hooks("'page:source'() { return null }")
    site.hooks(
        "'page:source'(text, file) { if (file === $FILE) return text.replaceAll($A, $B) }",
        FILE=one.file,
        A=marks[0],
        B=marks[1],
    )
    site.hooks("'page:source'(text, file) { return text.includes($A) ? text + $C : undefined }", A=marks[0], C=marks[2])
    site.build()
    expect("a text that two plugins changed", site.main(one.url), f"{one.html}\n<p>{marks[1]}{len(one.file)}</p>")
    expect(
        "a text that two others changed", site.main(two.url), f"{two.html}\n<p>{marks[0]}{len(two.file)}{marks[2]}</p>"
    )


def source_can_be_dropped(site):
    gone, *kept = site.some_pages()
    site.hooks("'page:source'(text, file) { if (file === $FILE) return false }", FILE=gone.file)
    site.hooks("'page:source'(text, file) { trace(file) },\n'page:parsed'(page) { trace(page.title) }")
    site.build()
    expect("pages without the file", sorted(site.urls()), sorted(page.url for page in kept))
    expect("its address", site.read(f"{gone.url[1:]}index.html"), None)
    expect(
        "what the next plugin was asked about",
        sorted(site.trace()),
        sorted([page.file for page in kept] + [page.title for page in kept]),
    )


def fields_are_laid_over(site):
    pages, title, first, second = site.some_pages(), site.word(), Sum(site.random), Sum(site.random)
    lucky = pages[0]
    site.hooks("'page:parsed'(page) { page.meta.n = $STEP }", STEP=first.js("page.meta.n"))
    site.hooks(
        "'page:parsed'(page) { if (page.title === $OLD) return { title: $NEW, tags: [$TAG] } },\n"
        "'page:layout'(layout, page) { trace(page.title + page.file) }",
        OLD=lucky.title,
        NEW=title,
        TAG=site.word(),
    )
    site.hooks("'page:parsed'(page) { return { meta: { n: $STEP, seen: page.title } } }", STEP=second.js("page.meta.n"))
    site.build()
    wanted = {(title if page is lucky else page.title): second(first(page.fields["n"])) for page in pages}
    expect("numbers that two plugins changed in turn", site.numbers(), wanted)
    expect("titles as the last plugin saw them", site.numbers("seen"), {title: title for title in wanted})
    expect(
        "files as before",
        sorted(site.trace()),
        sorted((title if page is lucky else page.title) + page.file for page in pages),
    )


def parsed_can_be_dropped(site):
    pages = site.some_pages(4, 5)
    gone = site.random.choice(pages)
    site.config["baseUrl"] = "https://" + site.word() + ".example"
    site.hooks(
        "'page:parsed'(page) { return page.meta.n === $N && page.title === $TITLE ? false : undefined }",
        N=gone.fields["n"],
        TITLE=gone.title,
    )
    site.hooks("'page:parsed'(page) { trace(page.title) },\n'page:url'(page) { trace(page.url) }")
    site.build()
    kept = [page for page in site.in_order() if page is not gone]
    expect("addresses without it", site.urls(), [page.url for page in kept])
    expect("sitemap.txt", site.read("sitemap.txt"), "".join(f"{site.config['baseUrl']}{page.url}\n" for page in kept))
    expect(
        "what others were asked about",
        sorted(site.trace()),
        sorted([page.title for page in kept] + [page.url for page in kept]),
    )
    expect("neighbours of it", [page.url for page in kept if gone.title in site.of_page(page.url)], [])


def first_address_counts(site):
    one, two, three = site.some_pages(3, 3)
    places = [f"/{site.word()}/", f"/{site.word()}/{site.word()}/", f"/{site.word()}/"]
    site.hooks("'page:url'(page) { if (page.title === $A) return $P }", A=one.title, P=places[0])
    site.hooks("'page:url'(page) { trace(page.title); if (page.title !== $C) return $P }", C=three.title, P=places[1])
    site.hooks("'page:url'(page) { trace(page.title + '!'); return null }")
    site.build()
    expect("addresses", sorted(site.urls()), sorted([places[0], places[1], three.url]))
    expect("the page at the first one", site.main(places[0]), one.html)
    expect("the page at the second one", site.main(places[1]), two.html)
    expect("who was asked", sorted(site.trace()), sorted([two.title, three.title, three.title + "!"]))


def list_is_reordered(site):
    pages = site.some_pages(5, 6)
    gone, key = site.random.choice(pages), site.random.randrange(50, 5000)
    site.hooks("pages(list) { return list.filter((page) => page.title !== $GONE) }", GONE=gone.title)
    site.hooks("pages(list) { trace(list.map((page) => page.title).join()) }")
    site.hooks(
        "pages(list, { site }) { return [...list].sort((a, b) => (a.meta.n * $K) % 9973 - (b.meta.n * $K) % 9973 || (a.title < b.title ? -1 : 1)) },\n"
        "'page:layout'(layout, page) { trace([page.previousPage?.title, page.title, page.nextPage?.title].join()) },\n"
        "done(report, { site }) { trace(site.pages.map((page) => page.title).join()) }",
        K=key,
    )
    site.build()
    before = [page for page in site.in_order() if page is not gone]
    after = sorted(before, key=lambda page: (page.fields["n"] * key % 9973, page.title))
    titles = [page.title for page in after]
    around = ["", *titles, ""]
    expect("addresses in the order of the plugins", site.urls(), [page.url for page in after])
    expect(
        "what the second plugin saw, and the neighbours",
        site.trace(),
        [",".join(page.title for page in before)]
        + [",".join(around[index : index + 3]) for index in range(len(titles))]
        + [",".join(titles)],
    )


def list_takes_new_ones(site):
    site.some_pages()
    url, title, body, extra = f"/{site.word()}/{site.word()}/", site.word(), site.word(), site.word()
    site.hooks(
        "pages(list) { return [{ url: $URL, title: $TITLE, body: $BODY }, ...list] }", URL=url, TITLE=title, BODY=body
    )
    site.hooks(
        "pages(list) { trace(list.map((page) => `${page.title}${page.tags.length}${page.meta === undefined}`).join()) }"
    )
    site.hooks("'page:html'(html, page) { return html + $EXTRA + String(page.file === null) }", EXTRA=extra)
    site.build()
    old = site.in_order()
    expect("addresses with the new one", site.urls(), [url, *(page.url for page in old)])
    expect("the new page", site.main(url), f"<p>{body}</p>{extra}true")
    expect("an old page", site.main(old[0].url), f"{old[0].html}{extra}false")
    expect("its title", site.title(url), f"{title} – {site.config['title']}")
    expect(
        "the list as the next plugin saw it",
        site.trace(),
        [",".join(f"{one}0false" for one in [title, *(page.title for page in old)])],
    )


def html_is_passed_on(site):
    pages, first, second = site.some_pages(), Sum(site.random), Sum(site.random)
    site.hooks("'page:html'(html, page) { return html + '|' + $STEP }", STEP=first.js("page.meta.n"))
    site.hooks("'page:html'() {}")
    site.hooks(
        "'page:html'(html, page) { const [text, number] = html.split('|'); return `${text}|${$STEP}|${page.url}` }",
        STEP=second.js("number"),
    )
    site.build()
    for page in pages:
        expect(
            "HTML that two plugins changed in turn",
            site.main(page.url),
            f"{page.html}|{second(first(page.fields['n']))}|{page.url}",
        )


def layout_is_for_one(site):
    pages, mark, end = site.some_pages(), site.word(), site.word()
    lucky = pages[1]
    site.hooks(
        "'page:layout'(layout, page) { if (page.title === $TITLE) return $MARK + '[[page.title]]:[[=page.html]]' }",
        TITLE=lucky.title,
        MARK=mark,
    )
    site.hooks("'page:layout'(layout) { return layout + $END + '[[page.meta.n]]' }", END=end)
    site.build()
    expect("a layout of its own", site.of_page(lucky.url), f"{mark}{lucky.title}:{lucky.html}{end}{lucky.fields['n']}")
    for page in (pages[0], pages[2]):
        expect("others have ours", (site.main(page.url), mark in site.of_page(page.url)), (page.html, False))
        expect("the end of others", site.of_page(page.url).rpartition(end)[2].strip(), str(page.fields["n"]))


def files_are_written(site):
    pages = site.some_pages()
    names = [f"{site.word()}.txt", f"{site.word()}/{site.word()}/{site.word()}.css"]
    text, number = site.word(), site.random.randrange(2, 99)
    site.hooks("files() {}")
    site.hooks("files(site) { return { [$A]: site.pages.map((page) => page.title).join('+') } }", A=names[0])
    site.hooks("files(site) { return { [$B]: $TEXT + site.pages.length * $N, } }", B=names[1], TEXT=text, N=number)
    site.hooks("done(report) { trace($NAMES.filter((name) => report.written.includes(name)).join()) }", NAMES=names)
    site.build()
    expect("a file of a plugin", site.read(names[0]), "+".join(page.title for page in site.in_order()))
    expect("a file of another", site.read(names[1]), f"{text}{len(pages) * number}")
    expect("both in the report", site.trace(), [",".join(names)])
    expect("the pages beside", sorted(site.urls()), sorted(page.url for page in pages))


def config_is_laid_over(site):
    pages, title, other, output = site.some_pages(), site.word(), site.word(), site.word()
    site.config["sort"] = "title"
    site.hooks("config(config) { return { title: config.title + $A, output: $OTHER } }", A=title, OTHER=other)
    site.hooks("config(config) { return { title: config.title + $B, sort: 'url', plugins: [] } }", B=other)
    site.hooks("'page:parsed'(page, { config }) { page.meta.seen = config.title }")
    site.build("--output", f"{output}")
    whole = site.config["title"] + title + other
    rows = site.index(output)
    expect("pages, by address", [row.get("url") for row in rows], sorted(page.url for page in pages))
    expect(
        "the title that hooks see, from a plugin that is still there",
        {row["meta"].get("seen") for row in rows},
        {whole},
    )
    text = site.read("index.html", output) or ""
    expect("the title in the list", f"<h1>{whole}</h1>" in text, True)
    site.build()
    expect("the folder that a plugin chose", len(site.index(other)), len(pages))


def done_hears_of_it(site):
    pages = site.some_pages()
    site.page(draft="true")
    site.hooks(
        "done(report) { trace([report.pages, report.written.includes($A), report.written.includes($B), report.warnings.length].join()) }",
        A=f"{pages[0].url[1:]}index.html",
        B=f"{site.pages[-1].url[1:]}index.html",
    )
    site.hooks("done(report) { trace(String(Array.isArray(report.written) && report.written.length > report.pages)) }")
    site.build()
    expect("the report", site.trace(), [f"{len(pages)},true,false,0", "true"])


CASES = (
    *(source_is_passed_on, source_can_be_dropped, fields_are_laid_over, parsed_can_be_dropped, first_address_counts),
    *(list_is_reordered, list_takes_new_ones, html_is_passed_on, layout_is_for_one, files_are_written),
    *(config_is_laid_over, done_hears_of_it),
)
