// Hides pictures and blanks long texts, without a change to the page's own tree; `undoPlain` shows them again.
const PICTURES = "img, picture, svg, canvas, video, object, embed, input[type=image]";
const MANY_WORDS = 6;

function makePlain(name, pattern) {
  const expression = pattern ? new RegExp(pattern, "iu") : null;
  const talks = (text) => squeezed(text).split(" ").length >= MANY_WORDS || Boolean(expression && expression.test(text));
  const nodes = allNodes();
  const elements = nodes.filter(isElement);
  const ranges = nodes.filter((node) => isText(node) && talks(runningText(node))).map(rangeOf);
  const pictures = elements.filter((element) => element.matches(PICTURES) && isShown(element)).length;
  const painted = elements.filter(hasPicture);
  const fields = elements.filter((element) => /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) && talks(fieldText(element)));
  const generated = elements.some((element) => ["::before", "::after"].some((part) => /["(]/.test(getComputedStyle(element, part).content)));
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules(name));
  const roots = [document, ...elements.map((element) => element.shadowRoot).filter(Boolean)];
  const sheets = roots.map((root) => [root, [...root.adoptedStyleSheets]]);
  for (const [root, before] of sheets) root.adoptedStyleSheets = [...before, sheet];
  CSS.highlights.set(name, new Highlight(...ranges));
  CSS.highlights.get(name).priority = 1e9;
  const stubborn = [...painted, ...elements.filter((element) => element.matches(PICTURES))].filter(stillShown).concat(fields);
  const styles = stubborn.map((element) => [element, element.getAttribute("style")]);
  for (const [element] of styles) element.style.setProperty(fields.includes(element) ? "-webkit-text-fill-color" : "visibility", fields.includes(element) ? "transparent" : "hidden", "important");
  globalThis.undoPlain = () => {
    for (const [root, before] of sheets) root.adoptedStyleSheets = before;
    for (const [element, style] of styles) style === null ? element.removeAttribute("style") : element.setAttribute("style", style);
    CSS.highlights.delete(name);
  };
  return Boolean(ranges.length || pictures || painted.length || fields.length || generated);
}

function rules(name) {
  const none = "color: transparent !important; -webkit-text-fill-color: transparent !important; text-shadow: none !important;";
  return `::highlight(${name}) { ${none} background-color: transparent !important; text-decoration: none !important; }
    ${PICTURES}, *::before, *::after { visibility: hidden !important; }
    *, *::before, *::after { background-image: none !important; border-image: none !important; list-style-image: none !important; }
    *::marker { ${none} }`;
}

function runningText(node) {
  const block = ancestors(holder(node)).find((element) => !/^(inline|contents)/.test(getComputedStyle(element).display));
  return block && block.textContent.length < 20000 && [...block.children].every((child) => /^(inline|contents)/.test(getComputedStyle(child).display)) ? block.textContent : node.data;
}

function rangeOf(node) {
  const range = new Range();
  range.selectNodeContents(node);
  return range;
}

const fieldText = (field) => [field.value, field.placeholder, field.tagName === "SELECT" && field.selectedOptions[0] && field.selectedOptions[0].text].filter((text) => typeof text === "string").join(" ");

function hasPicture(element) {
  return ["", "::before", "::after"].some((part) => /url\(|image-set|gradient|paint\(|element\(/.test(getComputedStyle(element, part || null).backgroundImage));
}

function stillShown(element) {
  const style = getComputedStyle(element);
  return style.visibility === "visible" && (element.matches(PICTURES) || style.backgroundImage !== "none");
}
