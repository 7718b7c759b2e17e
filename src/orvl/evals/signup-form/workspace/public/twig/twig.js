// twig: a tree of plain objects, and a page that is kept like it. See README.md beside this file.

const LIVE = new Set(["value", "checked"])
const SVG = "http://www.w3.org/2000/svg"

/** A node: a tag, or a component (a function of props and children), its props and what is in it. */
export function h(tag, props, ...children) {
  const given = props ?? {}
  const inner = flat(children)
  if (typeof tag === "function") {
    return withKey(tag(given, inner), given.key)
  }
  const { key = null, ref = null, ...rest } = given
  return { tag, key, ref, props: rest, children: inner }
}

/** A component's key is the key of what it renders, unless that has one of its own. */
function withKey(node, key) {
  if (node === null || node === undefined || key === undefined || node.key !== null) return node
  return { ...node, key }
}

/** Lists become part of the list they are in; nothing, true and false are left out. */
function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && typeof child !== "boolean")
    .map((child) => (typeof child === "object" ? child : { tag: null, key: null, text: String(child) }))
}

/**
 * Shows `view(state, set)` in an element and keeps it up to date.
 * The page follows in a microtask after `set`, once for all calls until then.
 */
export function mount(root, view, start = {}) {
  const app = { state: { ...start }, tree: [], waiting: false, afterwards: [], stopped: false }

  function set(change) {
    const given = typeof change === "function" ? change(app.state) : change
    app.state = { ...app.state, ...given }
    schedule()
  }

  function schedule() {
    if (app.waiting || app.stopped) return
    app.waiting = true
    queueMicrotask(render)
  }

  function render() {
    app.waiting = false
    if (app.stopped) return
    const next = flat([view(app.state, set)])
    patchChildren(root, app.tree, next)
    app.tree = next
    const due = app.afterwards.splice(0)
    for (const run of due) run(root)
  }

  /** Runs once, when the page has followed the state. */
  function after(run) {
    app.afterwards.push(run)
    schedule()
  }

  function stop() {
    app.stopped = true
    root.replaceChildren()
  }

  render()
  return { set, after, stop, get state() { return app.state } }
}

// -- children

/** Makes the children of an element like `next`; they were like `last`. */
function patchChildren(parent, last, next) {
  const kept = matches(last, next)
  const gone = new Set(last)
  for (const node of kept.values()) gone.delete(node)
  for (const node of gone) remove(node)
  let place = parent.firstChild
  for (const node of next) {
    const before = kept.get(node)
    const element = before ? patch(before, node) : create(node, parent)
    if (element === place) {
      place = place.nextSibling
    } else {
      parent.insertBefore(element, place)
    }
  }
}

/** Which old node goes on as which new one: by key, and those without by their place among nodes of the same tag. */
function matches(last, next) {
  const byName = new Map()
  for (const node of last) {
    const name = nameOf(node)
    if (!byName.has(name)) byName.set(name, [])
    byName.get(name).push(node)
  }
  const found = new Map()
  for (const node of next) {
    const before = byName.get(nameOf(node))?.shift()
    if (before) found.set(node, before)
  }
  return found
}

function nameOf(node) {
  const tag = node.tag ?? "#text"
  return node.key === null ? tag : `${tag} ${node.key}`
}

function remove(node) {
  tell(node, null)
  node.element.remove()
}

/** Refs in a part that goes hear of it. */
function tell(node, element) {
  if (node.ref) node.ref(element)
  for (const child of node.children ?? []) tell(child, null)
}

// -- one node

function create(node, parent) {
  if (node.tag === null) {
    node.element = document.createTextNode(node.text)
    return node.element
  }
  const isSvg = node.tag === "svg" || parent.namespaceURI === SVG
  const element = isSvg ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag)
  node.element = element
  node.listeners = new Map()
  patchProps(node, {}, node.props)
  patchChildren(element, [], node.children)
  patchLive(element, node.props)
  if (node.ref) node.ref(element)
  return element
}

function patch(last, next) {
  const element = last.element
  next.element = element
  if (next.tag === null) {
    if (last.text !== next.text) element.data = next.text
    return element
  }
  next.listeners = last.listeners
  patchProps(next, last.props, next.props)
  patchChildren(element, last.children, next.children)
  patchLive(element, next.props)
  if (next.ref && next.ref !== last.ref) next.ref(element)
  return element
}

// -- props

function patchProps(node, last, next) {
  for (const name of new Set([...Object.keys(last), ...Object.keys(next)])) {
    if (LIVE.has(name)) continue
    if (isListener(name)) {
      listen(node, name, next[name])
    } else if (last[name] !== next[name]) {
      setAttribute(node.element, name, next[name])
    }
  }
}

/** What people change, too: compared with what the element has, and not with the last render. */
function patchLive(element, props) {
  for (const name of LIVE) {
    if (name in props && element[name] !== props[name]) element[name] = props[name]
  }
}

function isListener(name) {
  return name.startsWith("on") && name[2] === name[2]?.toUpperCase()
}

/** One listener of the element for each event; it calls the handler of the last render. */
function listen(node, name, handler) {
  const type = name.slice(2).toLowerCase()
  const known = node.listeners.get(type)
  if (known) {
    known.handler = handler
    return
  }
  if (!handler) return
  const slot = { handler }
  node.listeners.set(type, slot)
  node.element.addEventListener(type, (event) => slot.handler?.(event))
}

function setAttribute(element, name, value) {
  const spelled = written(name, value)
  if (spelled === null) {
    element.removeAttribute(name)
  } else {
    element.setAttribute(name, spelled)
  }
}

/** `aria-` and `data-` have words for true and false; for all others it is being there. */
function written(name, value) {
  if (value === null || value === undefined) return null
  if (typeof value !== "boolean") return String(value)
  if (name.startsWith("aria-") || name.startsWith("data-")) return String(value)
  return value ? "" : null
}
