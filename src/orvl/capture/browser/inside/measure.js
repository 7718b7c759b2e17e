// Defects that can be measured: overlap, overflow, text that is cut off, broken images.
const MOST_OF_A_KIND = 20, MOST_PAIRS = 300;
const CONTROLS = "button, a[href], input:not([type=hidden]), select, textarea, summary, [role=button], [role=link], [role=tab]";

function measure(screenWidth) {
  const nodes = allNodes();
  const elements = nodes.filter(isElement).slice(0, MOST_ELEMENTS);
  const items = shownItems(nodes, elements);
  const found = [...overflows(elements, items, screenWidth), ...cutOff(items), ...brokenImages(elements)];
  const before = [scrollX, scrollY];
  found.push(...overlaps(items));
  scrollTo({ left: before[0], top: before[1], behavior: "instant" });
  return found;
}

function shownItems(nodes, elements) {
  const found = [];
  for (const node of nodes) {
    if (!isText(node) || !isShown(holder(node)) || isSqueezed(holder(node))) continue;
    found.push({ element: holder(node), node, text: short(node.data) });
  }
  for (const element of elements) {
    if (element.matches(CONTROLS) && isShown(element) && !isSqueezed(element)) {
      found.push({ element, node: null, text: short(element.innerText || element.value || element.getAttribute("aria-label") || "") });
    }
  }
  return found.slice(0, MOST_ELEMENTS);
}

function boxes(item) {
  if (!item.node) return [item.element.getBoundingClientRect()].filter((rect) => rect.width > 1 && rect.height > 1);
  return textRects(item.node).map((rect) => new DOMRect(rect.x, rect.y + rect.height * 0.15, rect.width, rect.height * 0.7));
}

// -- overlap

function overlaps(items) {
  const rows = items.flatMap((item) => boxes(item).map((rect) => ({ item, top: rect.top, rect })));
  rows.sort((one, other) => one.top - other.top);
  const pairs = new Map();
  for (let at = 0; at < rows.length && pairs.size < MOST_PAIRS; at++) {
    for (let next = at + 1; next < rows.length && rows[next].top < rows[at].rect.bottom; next++) {
      const [one, other] = [rows[at].item, rows[next].item];
      if (one === other || !shared(rows[at].rect, rows[next].rect) || belong(one.element, other.element)) continue;
      pairs.set([one.element, other.element], [one, other]);
      if (pairs.size >= MOST_PAIRS) break;
    }
  }
  const found = [], seen = new Set();
  for (const [one, other] of pairs.values()) {
    const key = [named(one.element) + one.text, named(other.element) + other.text].sort().join("|");
    const size = seen.has(key) ? null : collision(one, other);
    if (!size) continue;
    seen.add(key);
    const detail = `'${one.text}' and '${other.text}' (${named(other.element)}) lie over each other by ${size} px`;
    found.push({ kind: "overlap", target: named(one.element), detail });
    if (found.length >= MOST_OF_A_KIND) break;
  }
  return found;
}

function shared(one, other) {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return width > 2 && height > 2 ? new DOMRect(Math.max(one.left, other.left), Math.max(one.top, other.top), width, height) : null;
}

function belong(one, other) {
  if (one.contains(other) || other.contains(one)) return true;
  const whole = "label, button, a, summary, select, svg, math, ruby, [role=button]";
  const outer = one.closest(whole);
  return Boolean(outer && outer === other.closest(whole));
}

function collision(one, other) {
  const middle = boxes(one)[0];
  if (!middle) return null;
  scrollTo({ left: 0, top: middle.top + scrollY - innerHeight / 2, behavior: "instant" });
  for (const a of boxes(one)) {
    for (const b of boxes(other)) {
      const both = shared(a, b);
      if (both && bothSeen(one, other, a, b, both)) return `${Math.round(both.width)}×${Math.round(both.height)}`;
    }
  }
  return null;
}

function bothSeen(one, other, a, b, both) {
  const [x, y] = [both.x + both.width / 2, both.y + both.height / 2];
  if (isClipped(one.element, x, y) || isClipped(other.element, x, y)) return false;
  const stack = document.elementsFromPoint(x, y);
  const place = (item) => stack.findIndex((element) => element === item.element || element.contains(item.element) || item.element.contains(element));
  const [lowerItem, lowerBox] = place(one) > place(other) ? [one, a] : [other, b];
  const covers = stack.filter((element, at) => at < place(lowerItem) && !element.contains(lowerItem.element) && isOpaque(element));
  if (!covers.length) return true;
  const panel = covers.some((element) => element.closest("dialog, [role=dialog], [role=menu], [role=listbox], [popover], [aria-modal]"));
  const big = covers.some((element) => holds(element.getBoundingClientRect(), lowerBox) || isBig(element));
  return !panel && !big;
}

const holds = (outer, inner) => outer.left <= inner.left + 1 && outer.top <= inner.top + 1 && outer.right >= inner.right - 1 && outer.bottom >= inner.bottom - 1;
const isBig = (element) => element.offsetWidth * element.offsetHeight > innerWidth * innerHeight * 0.25;

function isOpaque(element) {
  const style = getComputedStyle(element);
  return channels(style.backgroundColor)[3] > 0.95 || style.backgroundImage !== "none" || /^(IMG|CANVAS|VIDEO|IFRAME)$/.test(element.tagName);
}

function isClipped(element, x, y) {
  return ancestors(element).some((one) => {
    const style = getComputedStyle(one);
    const rect = one.getBoundingClientRect();
    const sideways = style.overflowX !== "visible" && (x < rect.left || x > rect.right);
    const upright = style.overflowY !== "visible" && (y < rect.top || y > rect.bottom);
    return one !== document.documentElement && one !== document.body && (sideways || upright);
  });
}

// -- overflow

function overflows(elements, items, screenWidth) {
  const page = document.documentElement, width = page.clientWidth, found = [];
  if (width > screenWidth + 1) {
    const detail = `the page is laid out ${width} px wide on a screen of ${screenWidth} px: no viewport is set`;
    return [{ kind: "overflow", target: "html", detail }];
  }
  const scrolls = Math.max(page.scrollWidth, document.body ? document.body.scrollWidth : 0) > width + 1;
  const wide = elements.filter((element) => {
    const rect = element.getBoundingClientRect();
    const beyond = rect.width > 0 && rect.height > 0 && rect.right + scrollX > width + 1 && rect.left < width;
    return scrolls && beyond && isShown(element) && !scrollsInside(element);
  });
  const owners = items.filter((item) => item.node && !scrollsInside(item.element) && boxes(item).some((rect) => rect.right + scrollX > width + 1 && rect.left < width)).map((item) => item.element);
  const inner = wide.filter((element) => !wide.some((other) => other !== element && element.contains(other)));
  for (const element of new Set([...inner, ...owners])) {
    const beyond = Math.round(Math.max(element.getBoundingClientRect().right, element.getBoundingClientRect().left + element.scrollWidth) + scrollX - width);
    if (beyond < 2) continue;
    found.push({ kind: "overflow", target: named(element), detail: `'${short(element.innerText || "")}' reaches ${beyond} px beyond the screen's right edge` });
    if (found.length >= MOST_OF_A_KIND) break;
  }
  if (scrolls && !found.length) found.push({ kind: "overflow", target: "html", detail: `the page is ${page.scrollWidth} px wide on a screen of ${width} px` });
  return found;
}

function scrollsInside(element) {
  return ancestors(element).slice(1).some((one) => one !== document.body && one !== document.documentElement && getComputedStyle(one).overflowX !== "visible");
}

// -- cut off

function cutOff(items) {
  const found = [];
  for (const item of items.filter((one) => one.node)) {
    const rects = boxes(item);
    for (const outer of ancestors(item.element)) {
      const how = outer === document.body || outer === document.documentElement ? "" : cutBy(outer, rects);
      if (!how) continue;
      found.push({ kind: "cut off", target: named(item.element), detail: `'${item.text}' is cut off ${how} by ${named(outer)}` });
      break;
    }
    if (found.length >= MOST_OF_A_KIND) break;
  }
  return found;
}

function cutBy(outer, rects) {
  const style = getComputedStyle(outer), box = outer.getBoundingClientRect();
  const clips = (value) => value === "hidden" || value === "clip";
  const meant = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
  if (meant || box.width <= 2 || box.height <= 2 || style.display === "inline") return "";
  for (const rect of rects) {
    if (!shared(rect, box)) continue;
    if (clips(style.overflowX) && (rect.right > box.right + 2 || rect.left < box.left - 2)) return "sideways";
    if (clips(style.overflowY) && (rect.bottom > box.bottom + 1 || rect.top < box.top - 1)) return "at its edge";
  }
  return "";
}

// -- images

function brokenImages(elements) {
  const images = elements.filter((element) => element.tagName === "IMG" && isShown(element) && (element.getAttribute("src") !== null || element.srcset));
  const waits = (image) => image.loading === "lazy" && image.getBoundingClientRect().top > innerHeight;
  const broken = images.filter((image) => image.complete && !image.naturalWidth && !waits(image));
  return broken.slice(0, MOST_OF_A_KIND).map((image) => ({ kind: "broken image", target: named(image), detail: `${short(image.getAttribute("src") || image.srcset) || "an empty address"} shows nothing` }));
}
