// The text that can be seen, and the text that is there but cannot be seen, with the reason.
function whyHidden(node, element) {
  const style = getComputedStyle(element);
  if (!element.checkVisibility()) return "not displayed";
  if (style.visibility !== "visible") return "visibility";
  if (opacityOf(element) <= 0.05) return "opacity";
  const rects = textRects(node);
  if (!rects.length || parseFloat(style.fontSize) < 2 || isSqueezed(element)) return "zero size";
  if (rects.every((rect) => isOutside(rect))) return "off-screen";
  return sameColour(element, style) ? "colour of its background" : "";
}

function isSqueezed(element) {
  return ancestors(element).some((one) => {
    const style = getComputedStyle(one);
    const clips = style.overflowX !== "visible" || style.overflowY !== "visible" || style.clip !== "auto";
    const small = one.clientWidth <= 2 || one.clientHeight <= 2;
    const path = /inset\((50|100)%|circle\(0|polygon\(0(px)? 0(px)?,? ?0(px)? 0(px)?\)/.test(style.clipPath);
    return path || (clips && small && style.display !== "inline" && style.display !== "contents" && one !== document.body);
  });
}

function isOutside(rect) {
  const page = document.documentElement;
  const [x, y] = [rect.left + scrollX, rect.top + scrollY];
  return x + rect.width <= 0 || y + rect.height <= 0 || x >= Math.max(page.scrollWidth, innerWidth) || y >= Math.max(page.scrollHeight, innerHeight);
}

function sameColour(element, style) {
  const ink = channels(style.webkitTextFillColor || style.color);
  if (ink[3] < 0.05) return style.webkitTextStrokeWidth === "0px" && !/text/.test(style.backgroundClip);
  for (const one of ancestors(element)) {
    const looks = getComputedStyle(one);
    if (looks.backgroundImage !== "none") return false;
    const paper = channels(looks.backgroundColor);
    if (paper[3] > 0.9) return [0, 1, 2].every((at) => Math.abs(ink[at] - paper[at]) <= 8);
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme.includes("dark");
  return !dark && [0, 1, 2].every((at) => ink[at] >= 247);
}

function texts(most) {
  const visible = [], hidden = [];
  const sizes = { visible: 0, hidden: 0 };
  const put = (list, name, line) => {
    if (sizes[name] < most) list.push(line.slice(0, most - sizes[name]));
    sizes[name] += line.length + 1;
  };
  for (const node of allNodes()) {
    if (node.nodeType === Node.COMMENT_NODE && node.data.trim()) put(hidden, "hidden", "comment: " + squeezed(node.data));
    if (!isText(node)) continue;
    const why = whyHidden(node, holder(node));
    if (why) put(hidden, "hidden", why + ": " + squeezed(node.data));
    else put(visible, "visible", squeezed(node.data));
  }
  return { visible: visible.join("\n").slice(0, most), hidden: hidden.join("\n").slice(0, most) };
}
