// axe-core over the page. Contrast is slow to tell: of texts that look alike a few stand for all.
const MOST_RULES = 60, MOST_TARGETS = 20;

async function broken() {
  const plain = { resultTypes: ["violations"], iframes: false };
  const first = await axe.run(document, { ...plain, rules: { "color-contrast": { enabled: false } } });
  const looks = looksOfTexts();
  const texts = looks.flatMap((look) => look.samples);
  const second = texts.length ? await axe.run({ include: texts }, { resultTypes: ["violations", "incomplete"], iframes: false, runOnly: ["color-contrast"], elementRef: true }) : { violations: [], incomplete: [] };
  return { rules: [...first.violations, ...second.violations].slice(0, MOST_RULES).map(ruleRow), contrast: contrastShare(looks, judgedTexts(second)) };
}

function ruleRow(one) {
  return {
    rule: one.id,
    impact: one.impact || "",
    help: one.help,
    count: one.nodes.length,
    targets: one.nodes.slice(0, MOST_TARGETS).map((node) => node.target.flat(9).join(" ").slice(0, 200)),
    details: one.nodes.slice(0, MOST_TARGETS).map((node) => (node.any[0] || {}).data || {}),
  };
}

function judgedTexts(result) {
  const judged = new Map();
  for (const rule of result.incomplete) for (const node of rule.nodes) judged.set(node.element, null);
  for (const rule of result.violations) for (const node of rule.nodes) judged.set(node.element, (node.any[0] || {}).data || null);
  return judged;
}
