// What a mouse can use, and whether the keyboard gets there; both live in a world that the page does not see.
const MOST_TARGETS = 20, MOUSE_ONLY = 2000;
const NATIVE = "a[href], area[href], button, input:not([type=hidden]), select, textarea, summary, audio[controls], video[controls], [contenteditable]:not([contenteditable=false])";
const ROLES = "[role=button], [role=link], [role=tab], [role=checkbox], [role=radio], [role=switch], [role=option], [role=menuitem], [role=slider], [role=treeitem]";
const BY_ARROWS = "[role=radiogroup], [role=tablist], [role=listbox], [role=menu], [role=menubar], [role=tree], [role=grid], [role=toolbar]";

function findControls(listening) {
  const elements = allNodes().filter(isElement).slice(0, MOST_ELEMENTS);
  const heard = new Set(listening.map((at) => globalThis.listeners[at]));
  const usable = elements.filter((element) => !element.disabled && !element.closest("[inert], [aria-disabled=true]") && element.getBoundingClientRect().width > 2 && isShown(element));
  globalThis.controls = usable.filter((element) => element.matches(NATIVE) || element.matches(ROLES) || isMouseOnly(element, heard)).slice(0, MOUSE_ONLY);
  globalThis.reached = new Set();
  return globalThis.controls.length;
}

// Listens to clicks, or shows the hand. What holds something usable only passes clicks on.
function isMouseOnly(element, heard) {
  if (element.matches("html, body, label, option") || element.closest(NATIVE) || element.closest("label")) return false;
  const above = holder(element);
  const hand = getComputedStyle(element).cursor === "pointer" && !(above && getComputedStyle(above).cursor === "pointer");
  const passesOn = () => element.querySelector(`${NATIVE}, ${ROLES}`) || [...heard].some((one) => one && one !== element && element.contains(one));
  return (hand || heard.has(element)) && !passesOn() && !isScreen(element);
}

const isScreen = (element) => element.tagName !== "CANVAS" && element.offsetWidth >= innerWidth * 0.95 && element.offsetHeight >= innerHeight * 0.95;

function focused() {
  let element = document.activeElement;
  while (element && element.shadowRoot && element.shadowRoot.activeElement) element = element.shadowRoot.activeElement;
  return element;
}

function startTabbing() {
  const before = focused();
  if (before && before !== document.body) before.blur();
  scrollTo({ left: 0, top: 0, behavior: "instant" });
}

// Says whether the keys still get somewhere new; inside a frame nobody can tell.
function noteFocus() {
  const element = focused();
  const isNew = Boolean(element && element !== document.body && !globalThis.reached.has(element));
  if (element) globalThis.reached.add(element);
  return isNew || Boolean(element && element.tagName === "IFRAME");
}

// Of a page that is too long for all of it, what takes part in the order of Tab counts as reached.
function unreachedControls(isWhole) {
  const missed = globalThis.controls.filter((element) => !isReached(element) && (isWhole || element.tabIndex < 0));
  const row = (element) => ({ target: named(element), detail: `'${short(element.innerText || element.getAttribute("aria-label") || element.value || "")}' can be used with a mouse, but not reached with the Tab key` });
  return { count: missed.length, rows: missed.slice(0, MOST_TARGETS).map(row) };
}

function isReached(element) {
  if (ancestors(element).some((one) => globalThis.reached.has(one) && one !== document.body && one !== document.documentElement)) return true;
  const group = element.type === "radio" && element.name ? globalThis.controls.filter((one) => one.type === "radio" && one.name === element.name && one.form === element.form) : [];
  if (group.some((one) => globalThis.reached.has(one))) return true;
  const widget = element.closest(BY_ARROWS);
  return Boolean(widget && element.matches(`${NATIVE}, ${ROLES}`) && [...globalThis.reached].some((one) => widget.contains(one)));
}
