"""What heddle writes and prints speaks of entries, and no longer of pages."""

import json
import re

from orvl import checks

from scene import HEDDLE, Wrong, expect

OLD_WORD = re.compile("page", re.IGNORECASE)


def no_old_word(what, text):
    found = OLD_WORD.search(text or "")
    if found:
        raise Wrong(f"{what} says {text[max(0, found.start() - 60) : found.end() + 30]!r}")


def the_list(site):
    site.some_pages(3, 6)
    site.build()
    expect("pages.json", site.read("pages.json"), None)
    try:
        seen = json.loads(site.read("entries.json") or "")
    except ValueError:
        seen = {}
    expect("keys of entries.json", sorted(seen), ["entries", "title"])
    wanted = [
        {"url": page.url, "title": page.title, "date": page.date, "tags": [], "meta": {"n": page.fields["n"]}}
        for page in site.in_order()
    ]
    expect("entries.json", seen["entries"], wanted)


def all_files_of_a_site(site):
    site.some_pages(3, 4)
    site.config["baseUrl"] = f"https://{site.word()}.example"
    ended = site.build()
    files = site.all_files()
    expect("files", {"entries.json", "style.css", "feed.xml", "index.html"} - set(files), set())
    for path, content in files.items():
        no_old_word("the name of a file", path)
        no_old_word(path, content.decode("utf-8", "replace"))
    no_old_word("what it prints", ended.stdout + ended.stderr)


def how_many(count, words):
    def case(site):
        for _ in range(count):
            site.page()
        ended = site.build()
        expect("what it counts", ended.stdout.startswith(f"{count} {words}, "), True)
        expect("the report as JSON", json.loads(site.build("--json").stdout or "{}").get("entries"), count)

    case.__name__ = f"how_many: {count}"
    return case


def report_as_json(site):
    site.some_pages(3, 5)
    ended = site.build("--json")
    try:
        report = json.loads(ended.stdout)
    except ValueError:
        raise Wrong(f"build --json: {ended}") from None
    expect("how many", report.get("entries"), len(site.pages))
    expect("what was written", sorted(report.get("written", [])), sorted(site.all_files()))
    no_old_word("build --json", ended.stdout)


def the_command(site):
    site.some_pages(3, 4)
    ended = site.heddle("entries")
    expect(
        "heddle entries",
        (ended.status, ended.stdout),
        (0, "".join(f"{page.url}\t{page.title}\n" for page in site.in_order())),
    )
    rows = json.loads(site.heddle("entries", "--json").stdout or "[]")
    expect("heddle entries --json", [row.get("title") for row in rows], [page.title for page in site.in_order()])
    told = checks.run("node", HEDDLE, "--help", seconds=30)
    expect("the help", (told.status, "heddle entries" in told.stdout), (0, True))
    no_old_word("the help", told.stdout)


def warnings_and_mistakes(site):
    pages = site.some_pages(2, 3)
    pages[0].body = ""
    ended = site.build()
    expect("a warning", (pages[0].file in ended.stderr, "entry" in ended.stderr), (True, True))
    no_old_word("a warning", ended.stderr)
    site.lay()
    name = pages[0].file[len("content/") : -len(".md")]
    ended = checks.run("node", f"../../{HEDDLE}", "new", name, cwd=site.dir, seconds=30)
    expect(
        "what is there already", (ended.status, pages[0].file in ended.stderr, "entry" in ended.stderr), (1, True, True)
    )
    no_old_word("what it says then", ended.stderr)


def broken_links(site):
    pages = site.some_pages(3, 3)
    missing = f"/{site.word()}/"
    pages[1].body = f"[{site.word()}]({missing})"
    ended = site.heddle("check", "--json")
    try:
        seen = json.loads(ended.stdout)
    except ValueError:
        seen = ended.stdout
    expect("heddle check --json", seen, [{"entry": pages[1].url, "link": missing}])


def keys_of_a_site(site):
    site.some_pages(5, 6)
    word, count = site.word(), site.random.randint(1, 4)
    site.config |= {
        "baseUrl": f"https://{site.word()}.example",
        "entriesInFeed": count,
        "entryTitle": f"{word} [[entry.meta.n]] [[site.title]]",
    }
    site.build()
    expect("entries in the feed", (site.read("feed.xml") or "").count("    <title>"), count)
    for page in site.pages[:2]:
        expect("the title", site.title(page.url), f"{word} {page.fields['n']} {site.config['title']}")


def theme_of_a_site(site):
    site.some_pages(3, 4)
    theme, sign = site.word(), site.word()
    site.config["theme"] = theme
    site.file(f"{theme}/entry.html", f"{sign}[[=entry.html]][[entry.previousEntry.title]]")
    site.file(f"{theme}/list.html", f"{sign}[[#entries]]<[[entry.title]]>[[/entries]]{sign}")
    site.build()
    order = site.in_order()
    for before, page in zip([None, *order], order):
        expect("an entry", site.of_page(page.url), f"{sign}{page.html}{before.title if before else ''}")
    expect("the list", site.read("index.html"), sign + "".join(f"<{page.title}>" for page in order) + sign)


CASES = (
    *(the_list, all_files_of_a_site, how_many(1, "entry"), how_many(4, "entries"), report_as_json, the_command),
    *(warnings_and_mistakes, broken_links, keys_of_a_site, theme_of_a_site),
)
