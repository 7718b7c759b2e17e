// axe-core over the page. Contrast is slow to tell: of texts that look alike a few stand for all.
const MOST_TEXTS = 300, OF_A_LOOK = 3, MOST_RULES = 60, MOST_TARGETS = 20;

async function broken() {
  const plain = { resultTypes: ["violations"], iframes: false };
  const first = await axe.run(document, { ...plain, rules: { "color-contrast": { enabled: false } } });
  const texts = oneOfEach();
  const second = texts.length ? await axe.run({ include: texts }, { ...plain, runOnly: ["color-contrast"] }) : { violations: [] };
  return [...first.violations, ...second.violations].slice(0, MOST_RULES).map((one) => ({
    rule: one.id,
    impact: one.impact || "",
    help: one.help,
    count: one.nodes.length,
    targets: one.nodes.slice(0, MOST_TARGETS).map((node) => node.target.flat(9).join(" ").slice(0, 200)),
    details: one.nodes.slice(0, MOST_TARGETS).map((node) => (node.any[0] || {}).data || {}),
  }));
}

function oneOfEach() {
  const seen = new Map(), found = new Set();
  for (const node of allNodes()) {
    const element = isText(node) && !node.getRootNode().host ? holder(node) : null;
    if (!element || found.has(element) || !isShown(element)) continue;
    const style = getComputedStyle(element);
    const papers = ancestors(element).map((one) => getComputedStyle(one).backgroundColor + getComputedStyle(one).backgroundImage);
    const look = [style.color, style.fontSize, style.fontWeight, opacityOf(element), ...papers].join("|");
    seen.set(look, (seen.get(look) || 0) + 1);
    if (seen.get(look) <= OF_A_LOOK) found.add(element);
    if (found.size >= MOST_TEXTS) break;
  }
  return [...found];
}
