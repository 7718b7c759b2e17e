"""The number at each bar: what is left of a chart without colours."""

from build import built
from cases import Wrong
from cases_bars import below_zero, net_of, of_very_different_days, visits_of
from cases_tables import quiet, random, trapped
from page import number, plain_numbers


def labels_of(svg):
    """The numbers in the chart's texts, with the place of each from left to right; None where it is not written plainly."""
    found = []
    for text in svg.all("text"):
        try:
            value = number("label", text.text)
        except Wrong:
            continue
        found.append((value, place_of(text, svg)))
    return found


def place_of(text, svg):
    spans = list(text.all("tspan"))
    for node in [text, *spans[:1]]:
        if "x" in node.attributes and not any("transform" in one.attributes for one in inside(node, svg)):
            try:
                return plain_numbers(node, "x")[0]
            except Wrong:
                return None
    return None


def inside(node, svg):
    for one in node.up():
        if one is svg:
            return
        yield one


def compare(page, name, values):
    bars, labels = page.bars(name), labels_of(page.chart(name))
    slot = (bars[6][0] - bars[0][0]) / 6
    for at, (value, (x, _, width, _)) in enumerate(zip(values, bars)):
        middle = x + width / 2
        near = [one for one, place in labels if place is None or abs(place - middle) <= max(slot, width) * 0.75]
        if not any(one is not None and abs(one - value) < 0.001 for one in near):
            raise Wrong(f"bar {at + 1} of {name} has no {value} at it, but {near}")


def label_case(name, chart, pages):
    tale, made = pages

    def case():
        values = [cents / 100 for cents in net_of(tale)] if chart == "net" else visits_of(tale)
        compare(made.page, chart, values)

    return f"{name}, {chart}", case


def once(tell):
    tale = tell()
    return tale, built(tale)


def labels():
    weeks = [
        ("quiet", once(quiet)),
        ("very different", once(of_very_different_days)),
        ("below zero", once(below_zero(*random.sample(range(7), 2)))),
        ("all below zero", once(below_zero(*range(7)))),
        ("many visits", once(trapped)),
    ]
    return [label_case(name, chart, pages) for name, pages in weeks for chart in ("net", "visits")]
