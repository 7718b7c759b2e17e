// How much of the text has too little contrast, by characters: axe-core judges some of each look, which stand for all.
const MOST_TEXTS = 300, OF_A_LOOK = 3, LARGE = 24, LARGE_AND_BOLD = 18.66, BOLD = 700;
const LEAST_COST = 0.25; // of a text that misses the ratio by little; one in the colour of its background costs all

function looksOfTexts() {
  const looks = new Map(), seen = new Set();
  for (const node of allNodes()) {
    const element = isText(node) ? holder(node) : isElement(node) && node.matches("input, textarea, select") && node.value ? node : null;
    if (!element || !isShown(element) || isSqueezed(element)) continue;
    const style = getComputedStyle(element);
    const papers = ancestors(element).map((one) => getComputedStyle(one).backgroundColor + getComputedStyle(one).backgroundImage);
    const key = [style.color, style.webkitTextFillColor, style.fontSize, style.fontWeight, opacityOf(element), element.disabled, ...papers].join("|");
    const look = looks.get(key) || { characters: 0, samples: [], element };
    look.characters += squeezed(isText(node) ? node.data : String(node.value)).length;
    if (look.samples.length < OF_A_LOOK && seen.size < MOST_TEXTS && !seen.has(element) && !element.getRootNode().host) {
      look.samples.push(element);
      seen.add(element);
    }
    looks.set(key, look);
  }
  return [...looks.values()];
}

function contrastShare(looks, judged) {
  let whole = 0, bad = 0;
  for (const look of looks) {
    const costs = (look.samples.length ? look.samples : [look.element]).map((element) => costOf(element, judged.get(element)));
    const known = costs.filter((cost) => cost !== null);
    if (!known.length) continue;
    whole += look.characters;
    bad += (look.characters * known.reduce((sum, cost) => sum + cost, 0)) / known.length;
  }
  return { whole, bad: Math.min(bad, whole) };
}

// `data` is what axe-core found wrong; undefined where it found nothing, null where it could not tell or look.
function costOf(element, data) {
  if (data === undefined && !element.getRootNode().host) return 0;
  const ratio = data ? data.contrastRatio : estimate(element);
  if (ratio === null) return null;
  const wanted = data ? parseFloat(data.expectedContrastRatio) : wantedRatio(element);
  return ratio >= wanted ? 0 : LEAST_COST + ((1 - LEAST_COST) * (wanted - Math.max(1, ratio))) / (wanted - 1);
}

function wantedRatio(element) {
  const style = getComputedStyle(element), size = parseFloat(style.fontSize);
  return size >= LARGE || (size >= LARGE_AND_BOLD && Number(style.fontWeight) >= BOLD) ? 3 : 4.5;
}

// By the colours behind it; over a picture nobody can tell, and over a gradient it is the mean of the gradient's colours.
function estimate(element) {
  const style = getComputedStyle(element);
  const ink = channels(style.webkitTextFillColor || style.color);
  const layers = [];
  for (const one of ancestors(element)) {
    const looks = getComputedStyle(one), image = looks.backgroundImage;
    if (/url\(|paint\(|element\(|image-set/.test(image)) return null;
    const stops = image === "none" ? [] : (image.match(/(?:rgba?|color)\([^)]*\)/g) || []).map(channels);
    if (stops.length) layers.push(stops);
    layers.push([channels(looks.backgroundColor)]);
    if (layers.some((layer) => layer.every((color) => color[3] > 0.99))) break;
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme.includes("dark");
  let papers = [dark ? [18, 18, 18, 1] : [255, 255, 255, 1]];
  for (const layer of layers.reverse()) papers = layer.flatMap((color) => papers.map((paper) => over(color, paper))).slice(0, 64);
  const fade = ink[3] * opacityOf(element);
  const ratios = papers.map((paper) => ratioOf(over([...ink.slice(0, 3), fade], paper), paper));
  return ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
}

const over = (color, paper) => [0, 1, 2].map((at) => color[at] * color[3] + paper[at] * (1 - color[3])).concat(1);

function ratioOf(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color) {
  const [red, green, blue] = color.slice(0, 3).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
