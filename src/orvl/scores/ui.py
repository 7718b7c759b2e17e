"""How does it look? Defects that programs see count for .8, taste that judges see in the pictures for .2."""

weight = 0.5
taste = 0.2
views = 4  # desktop and phone, light and dark
kinds = ("overlap", "overflow", "cut off", "broken image", "error")
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
    """The share of (view, kind of defect) pairs without a defect, times the share of the view's text that has contrast.

    A view that was not loaded and measured, or that shows nothing, is not clean.
    """
    if page.defects is None:
        return 0.0
    found = {(defect.view, defect.kind) for defect in page.defects}
    found |= {(note.view, "error") for note in page.notes if note.kind in errors}
    clean = {view: sum((view, kind) not in found for kind in kinds) / len(kinds) for view in page.seen}
    return sum(share * page.good_share("contrast", view) for view, share in clean.items()) / views


async def score(run, items, judge=None):
    page = run.look()
    if page is None:
        return None
    if not page.seen:
        return 0.0
    defects = clean_share(page)
    if judge is None:
        return defects
    verdict = await judge.checklist(items, evidence=run.screenshots)
    if verdict.score is None:
        return verdict
    return (1 - taste) * defects + taste * verdict.score
