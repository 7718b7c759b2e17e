// As much of a document as twig needs, for tests without a browser.

class FakeNode {
  parentNode = null
  childNodes = []
  namespaceURI = "http://www.w3.org/1999/xhtml"

  get firstChild() {
    return this.childNodes[0] ?? null
  }

  get nextSibling() {
    const siblings = this.parentNode?.childNodes ?? []
    return siblings[siblings.indexOf(this) + 1] ?? null
  }

  insertBefore(node, before) {
    node.remove()
    const at = before ? this.childNodes.indexOf(before) : this.childNodes.length
    this.childNodes.splice(at, 0, node)
    node.parentNode = this
  }

  replaceChildren() {
    for (const child of [...this.childNodes]) child.remove()
  }

  remove() {
    const siblings = this.parentNode?.childNodes
    if (siblings) siblings.splice(siblings.indexOf(this), 1)
    this.parentNode = null
  }

  get textContent() {
    return this.childNodes.map((child) => child.data ?? child.textContent).join("")
  }
}

class FakeElement extends FakeNode {
  attributes = new Map()
  listeners = new Map()

  constructor(tag) {
    super()
    this.tagName = tag.toUpperCase()
  }

  setAttribute(name, value) {
    this.attributes.set(name, value)
  }

  removeAttribute(name) {
    this.attributes.delete(name)
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null
  }

  addEventListener(type, listener) {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener])
  }

  fire(type, event = {}) {
    for (const listener of this.listeners.get(type) ?? []) listener({ type, target: this, preventDefault() {}, ...event })
  }

  /** The first element in here with this tag. */
  find(tag) {
    for (const child of this.childNodes) {
      if (child.tagName === tag.toUpperCase()) return child
      const inner = child.find?.(tag)
      if (inner) return inner
    }
    return null
  }
}

export function fakeDocument() {
  return {
    createElement: (tag) => new FakeElement(tag),
    createElementNS: (_, tag) => new FakeElement(tag),
    createTextNode: (data) => Object.assign(new FakeNode(), { data }),
  }
}

export const settled = () => new Promise((resolve) => setImmediate(resolve))
