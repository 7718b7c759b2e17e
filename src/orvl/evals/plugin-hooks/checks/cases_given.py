"""What plugins and hooks are given: options, `this`, the site, the configuration, `warn`."""

from scene import expect, names_of


def options_are_given(site):
    pages, word, number = site.some_pages(), site.word(), site.random.randrange(100, 999)
    site.plugin(
        "export default function make(options) {\n"
        "  return { name: $NAME, hooks: { 'page:html': (html) => html + options.word + options.deep[1] } }\n}",
        options={"word": word, "deep": [0, number]},
    )
    site.plugin(
        "export default (options) => ({ name: $NAME, hooks: { 'page:html': (html) => html + JSON.stringify(options) } })"
    )
    site.build()
    for page in pages:
        expect("options", site.main(page.url), f"{page.html}{word}{number}{{}}")


def this_is_the_plugin(site):
    site.some_pages()
    start = site.random.randrange(100, 999)
    site.plugin(
        "count: $START,\nhooks: {\n'page:parsed'(page) { this.count += page.meta.n },\n"
        "pages() { this.count *= 2 },\nfiles() { return { [this.name]: String(this.count) } } }",
        name := site.word(),
        START=start,
    )
    site.build()
    expect(
        "what a plugin kept in this", site.read(name), str(2 * (start + sum(page.fields["n"] for page in site.pages)))
    )


def site_is_given(site):
    site.some_pages()
    tag = site.word()
    site.page(tags=tag)
    site.hooks(
        "config(config, { site }) { trace(String(site === null)) },\n"
        "'page:source'(text, file, { site }) { trace('s' + site.pages.length) },\n"
        "'page:parsed'(page, { site }) { trace('p' + site.pages.length) },\n"
        "'page:url'(page, { site }) { trace('u' + site.pages.length) },\n"
        "pages(list, { site }) { trace('l' + site.pages.length) },\n"
        "'page:html'(html, page, { site }) { trace('h' + site.page(page.url).title) },\n"
        "'page:layout'(layout, page, { site }) { trace('y' + site.pagesTagged($TAG).map((one) => one.title)) },\n"
        "files(given, { site }) { trace('f' + (given === site) + site.tags()) },\n"
        "done(report, { site }) { trace('d' + site.title) }",
        TAG=tag,
    )
    site.build()
    count, tagged = len(site.pages), site.pages[-1].title
    seen = site.trace()
    early, late = seen[1 : 1 + 3 * count], seen[1 + 3 * count :]
    expect(
        "without any pages yet",
        [*seen[:1], *sorted(early)],
        ["true", *["p0"] * count, *["s0"] * count, *["u0"] * count],
    )
    expect("addresses right after parsing", [one for one in early if one != "s0"], ["p0", "u0"] * count)
    wanted = [f"l{count}"]
    for page in site.in_order():
        wanted += [f"h{page.title}", f"y{tagged}"]
    expect("what hooks saw of the site, in their order", late, [*wanted, f"ftrue{tag}", f"d{site.config['title']}"])


def config_is_given(site):
    site.some_pages()
    site.config |= {"baseUrl": f"https://{site.word()}.example", "pagesInFeed": site.random.randrange(2, 60)}
    site.hooks(
        "'page:source'(text, file, { config }) { trace(config.source + config.sort) },\n"
        "files(site, { config }) { return { [$FILE]: [config.title, config.baseUrl, config.pagesInFeed, config.drafts].join() } }",
        FILE="given.txt",
    )
    site.build("--drafts")
    wanted = [site.config["title"], site.config["baseUrl"], str(site.config["pagesInFeed"]), "true"]
    expect("the configuration", site.read("given.txt"), ",".join(wanted))
    expect("the configuration, earlier", set(site.trace()), {"contentdate"})


def warnings_are_told(site):
    pages = site.some_pages()
    words = [site.word() for _ in range(3)]
    first = site.hooks(
        "'page:parsed'(page, { warn }) { if (page.title === $TITLE) warn($A) }", TITLE=pages[0].title, A=words[0]
    )
    second = site.hooks(
        "files(site, { warn }) { warn($B) },\ndone(report, { warn }) { warn($C) }", B=words[1], C=words[2]
    )
    ended = site.build()
    lines = [line for line in ended.stderr.splitlines() if "warning" in line]
    for name, word in ((first, words[0]), (second, words[1]), (second, words[2])):
        expect(
            f"warnings with {word} and the plugin's name",
            len([line for line in lines if word in line and name in line]),
            1,
        )
    expect("warnings", len(lines), 3)
    quiet = site.build("--quiet")
    expect("warnings with --quiet", quiet.stderr, "")


def drafts_are_asked_for_addresses(site):
    pages = site.some_pages()
    draft, late = site.page(draft="true"), pages[0]
    site.hooks(
        "'page:parsed'(page) { if (page.title === $TITLE) page.draft = true },\n'page:url'(page) { trace(page.title) }",
        TITLE=late.title,
    )
    site.hooks("pages(list) { trace('then ' + list.length) }")
    site.build()
    kept = [page for page in site.in_order() if page not in (draft, late)]
    expect(
        "who was asked for an address, then the list",
        (sorted(site.trace()[:-1]), site.trace()[-1:]),
        (sorted(page.title for page in site.pages), [f"then {len(kept)}"]),
    )
    expect("addresses without drafts", site.urls(), [page.url for page in kept])


def lists_are_made_with_plugins(site):
    pages = site.some_pages(4, 5)
    gone, place = pages[1], f"/{site.word()}/"
    site.hooks(
        "pages(list) { trace('listed'); return list.filter((page) => page.title !== $TITLE).reverse() }",
        TITLE=gone.title,
    )
    site.hooks(
        "'page:url'(page) { if (page.title === $TITLE) return $URL },\n'page:html'() { trace('html') },\nfiles() { trace('files') }",
        TITLE=pages[0].title,
        URL=place,
    )
    urls = [place if page is pages[0] else page.url for page in reversed(site.in_order()) if page is not gone]
    expect("what is listed", site.listed(), urls)
    expect("which hooks came", set(site.trace()), {"listed"})


def scripts_may_bring_plugins(site):
    mark, other = site.word(), site.word()
    site.some_pages()
    site.file(
        "plugins/of-a-file.js",
        "export default ({ sign }) => ({ name: 'of-a-file', hooks: { 'page:html': (html) => html + sign } })",
    )
    found = site.run_script(
        "import { build, loadSite } from 'heddle'\n"
        "const plugins = [\n"
        "  { name: $A, hooks: { 'page:html': (html) => html + $A } },\n"
        "  [(options) => ({ name: $B, hooks: { 'page:html': (html) => html + options.n, pages: (list) => list.slice(1) } }), { n: $N }],\n"
        "  ['./plugins/of-a-file.js', { sign: $B }],\n]\n"
        "const report = await build($DIR, { plugins })\n"
        "const site = await loadSite($DIR, { plugins })\n"
        "console.log(JSON.stringify([report.written.length, site.tags().length]))",
        A=mark,
        B=other,
        N=(number := site.random.randrange(100, 999)),
    )
    page = site.in_order()[1]
    expect("the page, after build() with plugins", site.main(page.url), f"{page.html}{mark}{number}{other}")
    expect("addresses, after build() with plugins", site.urls(), [one.url for one in site.in_order()[1:]])
    expect("the report", found, [len(site.all_files()), 0])


def each_build_makes_them_anew(site):
    site.some_pages()
    word = site.word()
    site.file(
        "plugins/counts.js",
        "export default () => { let count = 0; return { name: 'counts', hooks: {\n"
        "'page:parsed'() { count++ },\nfiles() { return { 'count.txt': String(count) } },\n"
        f"done(report, {{ warn }}) {{ warn('{word}') }} }} }} }}",
    )
    found = site.run_script(
        "import { build } from 'heddle'\nimport { readFileSync } from 'node:fs'\nconst seen = []\n"
        "for (let times = 0; times < 3; times++) {\n"
        "  const { warnings } = await build($DIR, { plugins: ['./plugins/counts.js'] })\n"
        "  seen.push([readFileSync($DIR + '/public/count.txt', 'utf8'), warnings.length, warnings[0].includes($WORD)])\n}\n"
        "console.log(JSON.stringify(seen))",
        WORD=word,
    )
    expect("three builds", found, [[str(len(site.pages)), 1, True]] * 3)


def errors_say_who_it_was(site):
    pages, word = site.some_pages(), site.word()
    lucky = site.random.choice(pages)
    name = site.word()
    found = site.run_script(
        "import { build, HeddleError } from 'heddle'\nconst said = []\n"
        "const hooks = [{ 'page:html'(html, page) { if (page.title === $TITLE) throw new Error($WORD) } },\n"
        "  { 'page:source'(text, file) { if (file === $FILE) throw new TypeError($WORD) } }, { files: () => ({ a: 1 }) }]\n"
        "for (const one of hooks) await build($DIR, { plugins: [{ name: $NAME, hooks: one }] }).then(() => said.push('built'), (error) => {\n"
        "  said.push([error instanceof HeddleError, error.plugin, error.hook, error.file ?? null, error.message.includes($WORD)])\n})\n"
        "console.log(JSON.stringify(said))",
        TITLE=lucky.title,
        FILE=lucky.file,
        WORD=word,
        NAME=name,
    )

    def told(hook, file, is_thrown):
        return [True, name, hook, file, is_thrown]

    for said, wanted in zip(
        found, (told("page:html", lucky.file, True), told("page:source", lucky.file, True), told("files", None, False))
    ):
        if isinstance(said, list) and said[2] in names_of(wanted[2]):
            wanted[2] = said[2]
        expect("an error", said, wanted)


CASES = (
    *(options_are_given, this_is_the_plugin, site_is_given, config_is_given, warnings_are_told),
    *(
        drafts_are_asked_for_addresses,
        lists_are_made_with_plugins,
        scripts_may_bring_plugins,
        each_build_makes_them_anew,
    ),
    errors_say_who_it_was,
)
