"""Sites without plugins are built as ever, and other files are left alone."""

import hashlib

from orvl import checks

from scene import HEDDLE, Page, Wrong, expect

DIGESTS = {
    "brand/colours.csv": "b5d79406861f3d00d05dbb62c181edb0c816f4f2b20fd6d1af75235ae06d940a",
    "docs/minutes/2031-02.md": "59ebdc17409725fe11f8f5947a646d8ed1df2591c75b7b94d234f1afd87fe77d",
    "infra/nginx.conf": "32e494a4523775e963c65a0dfb05b291d79121e7ec86ede6eeba178f818f3c40",
}


def pages_and_list(site):
    site.some_pages(3, 5)
    site.page(folder=f"{site.word()}/", tags=f"{site.word()}, {site.word()}")
    ended = site.build()
    order = site.in_order()
    files = sorted([f"{page.url[1:]}index.html" for page in order] + ["index.html", "sitemap.txt", "style.css"])
    expect("files", [path for path in sorted(site.all_files()) if not path.endswith(".json")], files)
    for page in order:
        expect(
            "a page", (site.main(page.url), site.title(page.url)), (page.html, f"{page.title} – {site.config['title']}")
        )
    tags = {page.url: page.fields.get("tags", "").split(", ") for page in order if "tags" in page.fields}
    rows = [
        {
            "url": page.url,
            "title": page.title,
            "date": page.date,
            "tags": tags.get(page.url, []),
            "meta": {"n": page.fields["n"]},
        }
        for page in order
    ]
    expect("the rows", site.index(), rows)
    expect("sitemap.txt", site.read("sitemap.txt"), "".join(f"{page.url}\n" for page in order))
    expect("what it counts", ended.stdout.split()[0] if ended.stdout else "", str(len(order)))


def neighbours_are_linked(site):
    site.some_pages(3, 5)
    site.build()
    order = site.in_order()
    for index, page in enumerate(order):
        text = site.of_page(page.url)
        for rel, other in (
            ("prev", order[index - 1] if index else None),
            ("next", order[index + 1] if index + 1 < len(order) else None),
        ):
            url, title = (other.url, other.title) if other else ("", "")
            expect(f"the {rel} link of {page.url}", f'<a rel="{rel}" href="{url}">{title}</a>' in text, True)


def list_shows_all(site):
    site.some_pages(2, 4)
    site.config["sort"] = "title"
    site.build()
    text, lines = site.read("index.html") or "", []
    for page in sorted(site.pages, key=lambda page: page.title):
        lines.append(f'<li><a href="{page.url}">{page.title}</a> <time>{page.date}</time></li>')
    expect(
        "the list",
        [line for line in text.splitlines() if "<time>" in line],
        [line if index else line for index, line in enumerate(lines)],
    )


def start_of_its_own(site):
    site.page()
    start = Page("content/index.md", {"title": site.word(), "url": "/"}, site.word())
    site.pages.append(start)
    site.build()
    expect("the start", site.main("/"), start.html)


def feed_has_the_newest(site):
    site.some_pages(4, 6)
    site.config |= {"baseUrl": f"https://{site.word()}.example", "sort": "title"}
    site.build()
    text = site.read("feed.xml") or ""
    wanted = [f"    <title>{page.title}</title>" for page in site.in_order()]
    expect("titles in the feed", [line for line in text.splitlines() if line.startswith("    <title>")], wanted)
    expect("links in the feed", text.count(f'<link href="{site.config["baseUrl"]}/'), len(wanted))


def feed_has_ten(site):
    """Unless the site says more."""
    for _ in range(site.random.randint(12, 14)):
        site.page()
    site.config["baseUrl"] = f"https://{site.word()}.example"
    site.build()
    expect("how many are in the feed", (site.read("feed.xml") or "").count("    <title>"), 10)


def titles_of_their_own(site):
    """A page without a title has its first heading as title, or else the name of its file."""
    headed, bare = site.page(), site.page()
    heading = site.word()
    del headed.fields["title"], bare.fields["title"]
    headed.body = f"## {site.word()}\n\n# {heading}\n\n{headed.body}"
    site.build()
    titles = {headed.url: heading, bare.url: bare.file[len("content/") : -len(".md")]}
    expect("titles", {row.get("url"): row.get("title") for row in site.index()}, titles)


def drafts_are_left_out(site):
    site.some_pages(2, 3)
    draft = site.page(draft="true")
    kept = [page.url for page in site.in_order() if page is not draft]
    expect("what is listed", site.listed(), kept)
    expect("with --drafts", site.listed("--drafts"), [draft.url, *kept])
    site.build("--drafts")
    expect("a draft", site.main(draft.url), draft.html)


def broken_links_are_found(site):
    pages = site.some_pages(3, 3)
    missing = f"/{site.word()}/"
    pages[0].body = f"[{site.word()}]({pages[1].url}) [{site.word()}]({missing})"
    ended = site.heddle("check")
    expect("status and links", (ended.status, ended.stdout), (1, f"{pages[0].file}: {missing}\n"))
    pages[0].body = pages[0].body.replace(missing, pages[2].url[:-1])
    ended = site.heddle("check")
    expect("status and links, once mended", (ended.status, ended.stdout), (0, ""))


def new_ones_are_made(site):
    site.some_pages(1, 2)
    site.lay()
    title = f"{site.word().title()} {site.word().title()}"
    name = title.lower().replace(" ", "-")
    ended = checks.run("node", f"../../{HEDDLE}", "new", title, cwd=site.dir, seconds=30)
    expect("what it says", (ended.status, ended.stdout), (0, f"content/{name}.md\n"))
    made = checks.read(f"{site.dir}/content/{name}.md")
    expect("the file", made, f"---\ntitle: {title}\ndraft: true\n---\n".encode())
    again = checks.run("node", f"../../{HEDDLE}", "new", title, cwd=site.dir, seconds=30)
    expect("status the second time", again.status, 1)


def mistakes_are_told(site):
    site.some_pages(1, 2)
    site.build()
    site.config[site.word()] = 1
    ended = site.heddle("build")
    expect("status and message of an unknown key", (ended.status, "unknown key" in ended.stderr), (2, True))
    site.config = {"title": site.word(), "sort": site.word()}
    expect("status of an unknown sort", site.heddle("build").status, 2)


def scripts_work(site):
    site.some_pages()
    tag = site.word()
    page = site.page(tags=tag)
    found = site.run_script(
        "import { build, loadSite, markdown, fill } from 'heddle'\n"
        "const report = await build($DIR, { output: 'out' })\nconst site = await loadSite($DIR)\n"
        "console.log(JSON.stringify([report.written.length, report.warnings, site.tags(), site.title, markdown('*' + $TAG + '*'), fill('[[a.b]]', { a: { b: '<' } })]))",
        TAG=tag,
    )
    expect(
        "what a script saw",
        found,
        [len(site.all_files("out")), [], [tag], site.config["title"], f"<p><em>{tag}</em></p>", "&lt;"],
    )
    expect("its rows", site.index("out")[0]["url"], page.url)


PLAIN = (
    *(
        pages_and_list,
        neighbours_are_linked,
        list_shows_all,
        start_of_its_own,
        feed_has_the_newest,
        drafts_are_left_out,
    ),
    *(feed_has_ten, titles_of_their_own, drafts_are_left_out),
    *(broken_links_are_found, new_ones_are_made, mistakes_are_told, scripts_work),
)


def _kept(path):
    def case(site):
        content = checks.read(path)
        if content is None or hashlib.sha256(content).hexdigest() != DIGESTS[path]:
            raise Wrong(f"{path} was edited or removed")

    case.__name__ = path
    return case


SENTINELS = tuple(_kept(path) for path in DIGESTS)
