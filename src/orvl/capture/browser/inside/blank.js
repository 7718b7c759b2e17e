// Whether there is anything for a person: text, something to use, or a picture. Colours alone are nothing.
const SMALLEST = 8;
const SAYS = /[\p{L}\p{N}\p{S}]/u;

function isBlank() {
  const nodes = allNodes();
  const hasText = nodes.some((node) => isText(node) && SAYS.test(node.data) && !whyHidden(node, holder(node)));
  return !hasText && !nodes.filter(isElement).some((element) => isUsed(element) || isPicture(element));
}

function isLarge(element) {
  const rect = element.getBoundingClientRect();
  return rect.width >= SMALLEST && rect.height >= SMALLEST && isShown(element) && !isSqueezed(element) && !isOutside(rect);
}

const isUsed = (element) => element.matches(CONTROLS) && isLarge(element);

function isPicture(element) {
  const drawn = /^(svg|canvas|video|iframe|object|embed)$/i.test(element.tagName) || (element.tagName === "IMG" && element.naturalWidth > 0);
  return (drawn || /url\(/.test(getComputedStyle(element).backgroundImage)) && isLarge(element);
}
