"""How does it look? Defects that programs see count for .8, taste that judges see in the pictures for .2."""

taste = 0.2
views = 4  # desktop and phone, light and dark
kinds = ("overlap", "overflow", "cut off", "contrast", "broken image", "error")
errors = ("console error", "page error", "failed request", "crash")
items = [
    "Things that belong together are near each other.",
    "Things are aligned.",
    "Type and colour are used consistently.",
    "What matters most is seen first.",
    {"item": "Something looks unfinished or broken at one of the sizes.", "good": "no"},
    {"item": "Something is hard to read in the light or in the dark.", "good": "no"},
]


def clean_share(page):
    """The share of (view, kind of defect) pairs without a defect; what was not loaded and measured is not clean."""
    if page.defects is None:
        return 0.0
    gone = {note.view for note in page.notes if note.kind in ("left", "crash")}
    loaded = [view.name for view in page.views if view.loaded and view.name not in gone]
    found = {(defect.view, defect.kind) for defect in page.defects}
    found |= {(note.view, "error") for note in page.notes if note.kind in errors}
    return sum((view, kind) not in found for view in loaded for kind in kinds) / (views * len(kinds))


async def score(run, items, judge=None):
    page = run.look()
    if page is None:
        return None
    if not any(view.loaded for view in page.views):
        return 0.0
    defects = clean_share(page)
    if judge is None:
        return defects
    verdict = await judge.checklist(items, evidence=run.screenshots)
    if verdict.score is None:
        return verdict
    return (1 - taste) * defects + taste * verdict.score
