// Helpers for what is asked of a page; it all runs in a world of its own, where the page's scripts change nothing.
const MOST_ELEMENTS = 6000;
const NO_TEXT = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "TITLE", "META", "LINK"]);

function* nodesBelow(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
  for (let node = walker.currentNode; node; node = walker.nextNode()) {
    yield node;
    if (node.shadowRoot) yield* nodesBelow(node.shadowRoot);
  }
}

function allNodes() {
  const found = [];
  for (const node of nodesBelow(document)) {
    found.push(node);
    if (found.length >= MOST_ELEMENTS * 3) break;
  }
  return found;
}

const isElement = (node) => node.nodeType === Node.ELEMENT_NODE;
const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim() && holder(node) && !NO_TEXT.has(holder(node).tagName);
const holder = (node) => node.parentElement || (node.getRootNode() || {}).host || null;
const above = (element) => element.assignedSlot || holder(element);
const squeezed = (text) => text.replace(/\s+/g, " ").trim();
const short = (text) => (squeezed(text).length > 60 ? squeezed(text).slice(0, 59) + "…" : squeezed(text));

function named(element) {
  const id = element.id ? "#" + short(element.id) : "";
  const kind = typeof element.className === "string" && element.className.trim() ? "." + short(element.className.trim().split(/\s+/)[0]) : "";
  return element.tagName.toLowerCase() + (id || kind);
}

function ancestors(element) {
  const found = [];
  for (let one = element; one; one = above(one)) found.push(one);
  return found;
}

function opacityOf(element) {
  return ancestors(element).reduce((product, one) => product * Number(getComputedStyle(one).opacity), 1);
}

function isShown(element) {
  return element.checkVisibility({ checkVisibilityCSS: true, contentVisibilityAuto: true }) && opacityOf(element) > 0.05;
}

function textRects(node) {
  const range = new Range();
  range.selectNodeContents(node);
  return [...range.getClientRects()].filter((rect) => rect.width > 0 && rect.height > 0).slice(0, 60);
}

function channels(color) {
  const numbers = (color.match(/[\d.]+/g) || []).map(Number);
  if (color.startsWith("color(")) return [numbers[0] * 255, numbers[1] * 255, numbers[2] * 255, numbers[3] ?? 1];
  return numbers.length >= 3 ? [numbers[0], numbers[1], numbers[2], numbers[3] ?? 1] : [0, 0, 0, 0];
}
