"""The two plugins that come with heddle."""

import json

from scene import expect

READING, TAGS = "../../plugins/reading-time.js", "../../plugins/tag-index.js"


def _body(site, page, words):
    page.body = " ".join(site.word() for _ in range(words))
    return page


def _minutes(words, speed):
    return max(1, int(words / speed + 0.5))


def _reading(speed):
    def case(site):
        pages = [_body(site, page, site.random.randint(1, 60)) for page in site.some_pages()]
        used = speed or site.random.randint(3, 9)
        site.plugins.append([READING, {"perMinute": used}])
        site.build()
        minutes = {page.title: _minutes(len(page.body.split()), used) for page in pages}
        expect("minutes", site.numbers("minutes"), minutes)
        for page in pages:
            expect(
                "minutes on the page",
                site.main(page.url),
                f'<p class="minutes">{minutes[page.title]} min</p>\n{page.html}',
            )

    case.__name__ = f"reading_time: {speed or 'any'}"
    return case


def normal_speed(site):
    pages = [_body(site, page, words) for page, words in zip(site.some_pages(3, 3), (90, 310, 550))]
    site.plugins.append(READING)
    site.build()
    expect("minutes", site.numbers("minutes"), {page.title: _minutes(len(page.body.split()), 200) for page in pages})


def _tags(file):
    def case(site):
        tags = [site.word() for _ in range(4)]
        for page in site.some_pages(4, 6):
            page.fields["tags"] = ", ".join(site.random.sample(tags[:3], site.random.randint(1, 3)))
        site.page(tags=tags[3])
        name = file or f"{site.word()}.json"
        site.plugins.append(TAGS if file else [TAGS, {"file": name}])
        ended = site.build()
        wanted = {}
        for page in site.in_order():
            for tag in page.fields["tags"].split(", "):
                wanted.setdefault(tag, []).append(page.url)
        try:
            found = json.loads(site.read(name) or "")
        except ValueError:
            found = site.read(name)
        expect("addresses of each tag", found, wanted)
        expect("what it says", ended.stderr, "")

    case.__name__ = f"tag_index: {file or 'any'}"
    return case


def no_tags(site):
    pages = site.some_pages(2, 9)
    site.plugins.append(TAGS)
    ended = site.build()
    expect("tags", site.read("tags.json"), "{}")
    lines = [line for line in ended.stderr.splitlines() if "tag-index" in line and "not one tag" in line]
    expect("warnings", len(lines), 1)
    expect("how many it counts", f" {len(pages)} " in lines[0], True)


def both(site):
    tag = site.word()
    page = _body(site, site.page(tags=tag), 30)
    site.plugins += [TAGS, [READING, {"perMinute": 4}]]
    site.build()
    expect("minutes", site.main(page.url), f'<p class="minutes">8 min</p>\n{page.html}')
    expect("tags", json.loads(site.read("tags.json") or "null"), {tag: [page.url]})


CASES = (_reading(1), _reading(0), _reading(0), normal_speed, _tags("tags.json"), _tags(""), no_tags, both)
