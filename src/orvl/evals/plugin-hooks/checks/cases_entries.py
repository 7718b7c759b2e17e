"""Plugins that speak of entries, as all of them will from now on."""

from scene import Sum, expect, failed_status, new_hook


def hooks_by_their_names(site):
    pages, word, step, place = site.some_pages(), site.word(), Sum(site.random), site.word()
    gone = pages[0]
    site.hooks(
        "'entry:source'(text, file) { return file === $FILE ? false : text + $WORD },\n"
        "'entry:parsed'(entry) { return { meta: { n: $STEP } } },\n"
        "'entry:url'(entry) { return '/' + $PLACE + entry.url },\n"
        "'entry:layout'(layout, entry) { return layout + entry.meta.n }",
        FILE=gone.file,
        WORD=word,
        STEP=step.js("entry.meta.n"),
        PLACE=place,
    )
    site.hooks(f"'{new_hook('entry')}'({{ html, entry }}) {{ return html + entry.title }}")
    ended = site.build()
    expect("addresses", sorted(site.urls()), sorted(f"/{place}{page.url}" for page in pages[1:]))
    for page in pages[1:]:
        url = f"/{place}{page.url}"
        expect("HTML", site.main(url), f"<p>{page.body}\n{word}</p>{page.title}")
        expect("the end of the layout", site.of_page(url).endswith(f">\n{step(page.fields['n'])}"), True)
    expect("warnings", ended.stderr, "")


def entries_are_listed(site):
    pages, title = site.some_pages(4, 5), site.word()
    gone = site.random.choice(pages)
    site.hooks(
        "entries(entries, { site }) { trace(String(site.entries.length === entries.length)); return [{ url: '/' + $TITLE + '/', title: $TITLE, body: '' }, ...entries.filter((one) => one.title !== $GONE)] }",
        TITLE=title,
        GONE=gone.title,
    )
    site.hooks(
        "entries(entries) { trace(entries.map((one) => one.title).join()) },\nfiles(site) { trace(site.entries.map((one) => one.title).join()) }"
    )
    site.build()
    kept = [page for page in site.in_order() if page is not gone]
    titles = ",".join([title, *(page.title for page in kept)])
    expect("what was seen", site.trace(), ["true", titles, titles])
    expect("addresses", site.urls(), [f"/{title}/", *(page.url for page in kept)])


def neighbours(site):
    site.some_pages(4, 5)
    site.hooks(
        "'entry:layout'(layout, entry) { return `${entry.previousEntry?.title}<${entry.title}<${entry.nextEntry?.title}` }"
    )
    site.build()
    order = [None, *site.in_order(), None]
    for before, page, after in zip(order, order[1:], order[2:]):
        titles = [one.title if one else "undefined" for one in (before, page, after)]
        expect("neighbours", site.of_page(page.url), "<".join(titles))


def the_site(site):
    pages, tag = site.some_pages(), site.word()
    site.page(tags=tag)
    site.hooks(
        "files(site) { return { 'site.txt': [site.entry($URL).title, site.entry('/none/'), site.entriesTagged($TAG).map((one) => one.url), site.entries.length].join() } }",
        URL=pages[0].url,
        TAG=tag,
    )
    site.build()
    expect("the site", site.read("site.txt"), f"{pages[0].title},,{site.pages[-1].url},{len(site.pages)}")


def the_report(site):
    site.some_pages(2, 6)
    site.hooks("done(report) { trace([report.entries, report.written.includes('entries.json')].join()) }")
    site.build()
    expect("the report", site.trace(), [f"{len(site.pages)},true"])


def the_configuration(site):
    site.some_pages(5, 6)
    site.config["baseUrl"] = f"https://{site.word()}.example"
    word, first, more = site.word(), site.random.randint(1, 2), site.random.randint(1, 2)
    site.config["entriesInFeed"] = first
    site.hooks(
        "config(config) { return { entriesInFeed: config.entriesInFeed + $MORE, entryTitle: $WORD + '[[entry.title]]' + config.entryTitle } }",
        MORE=more,
        WORD=word,
    )
    site.build()
    expect("entries in the feed", (site.read("feed.xml") or "").count("    <title>"), first + more)
    for page in site.pages[:2]:
        expect("the title", site.title(page.url), f"{word}{page.title}{page.title} – {site.config['title']}")


def layouts(site):
    site.some_pages(3, 4)
    sign = site.word()
    site.hooks(
        "'entry:layout'() { return $SIGN + '[[entry.title]]/[[entry.meta.n]]/[[=entry.html]]/[[entry.nextEntry.title]]' }",
        SIGN=sign,
    )
    site.build()
    order = site.in_order()
    for page, after in zip(order, [*order[1:], None]):
        expect(
            "a layout",
            site.of_page(page.url),
            f"{sign}{page.title}/{page.fields['n']}/{page.html}/{after.title if after else ''}",
        )


def scripts(site):
    site.some_pages(3, 4)
    tag = site.word()
    page = site.page(tags=tag)
    found = site.run_script(
        "import { build, loadSite, Entry } from 'heddle'\nconst report = await build($DIR)\nconst site = await loadSite($DIR)\n"
        "const made = site.addEntry({ url: '/x/', title: $TAG })\n"
        "console.log(JSON.stringify([report.entries, site.entries.length, site.entries[0] instanceof Entry, made instanceof Entry,\n"
        "  site.entry($URL).title, site.entriesTagged($TAG).length]))",
        TAG=tag,
        URL=page.url,
    )
    expect("what a script saw", found, [len(site.pages), len(site.pages) + 1, True, True, page.title, 1])


def failures(site):
    pages, word = site.some_pages(), site.word()
    lucky = pages[1]
    name = site.hooks(
        "'entry:parsed'(entry) { if (process.env.SOUR && entry.title === $TITLE) throw new Error($WORD); entry.meta.seen = 1 }",
        TITLE=lucky.title,
        WORD=word,
    )
    site.build()
    expect("numbers", set(site.numbers("seen").values()), {1})
    pages[0].body += " " + site.word()
    site.fails([name, "entry:parsed", lucky.file, word], failed_status(), env={"SOUR": "yes"})


def heads(site):
    pages, word = site.some_pages(), site.word()
    site.hooks(
        f"'{new_hook('entry')}'({{ entry }}) {{ return {{ head: '<' + $WORD + entry.meta.n + '>' }} }}", WORD=word
    )
    site.build()
    for page in pages:
        expect("the head", site.head(page.url).count(f"<{word}{page.fields['n']}>"), 1)


CASES = (
    *(hooks_by_their_names, entries_are_listed, neighbours, the_site, the_report, the_configuration, layouts, scripts),
    *(failures, heads),
)
