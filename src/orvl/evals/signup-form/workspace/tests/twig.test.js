import assert from "node:assert/strict"
import { beforeEach, test } from "node:test"
import { h, mount } from "../public/twig/twig.js"
import { fakeDocument, settled } from "./fake-dom.js"

let root

beforeEach(() => {
  globalThis.document = fakeDocument()
  root = document.createElement("main")
})

test("shows a tree, without nothing, true and false", () => {
  mount(root, () => h("p", { class: "a" }, "one ", null, true, [2, [false, " three"]]))
  assert.equal(root.find("p").textContent, "one 2 three")
  assert.equal(root.find("p").getAttribute("class"), "a")
})

test("follows the state in a microtask, once", async () => {
  let renders = 0
  const app = mount(root, (state) => {
    renders += 1
    return h("p", null, state.count)
  }, { count: 1 })
  app.set({ count: 2 })
  app.set((state) => ({ count: state.count + 1 }))
  assert.equal(root.find("p").textContent, "1")
  await settled()
  assert.equal(root.find("p").textContent, "3")
  assert.equal(renders, 2)
})

test("goes on with an element that has the same tag and key", async () => {
  const app = mount(root, ({ keys }) => h("ul", null, keys.map((key) => h("li", { key }, key))), { keys: ["a", "b"] })
  const [, second] = root.find("ul").childNodes
  app.set({ keys: ["c", "b"] })
  await settled()
  assert.equal(root.find("ul").childNodes[1], second)
  assert.equal(root.find("ul").textContent, "cb")
})

test("makes an element anew whose key has changed", async () => {
  const app = mount(root, ({ key }) => h("input", { key }), { key: 1 })
  const before = root.find("input")
  app.set({ key: 2 })
  await settled()
  assert.notEqual(root.find("input"), before)
})

test("writes live props over what was typed, and leaves others alone", async () => {
  const app = mount(root, ({ value }) => h("div", null, h("input", { value }), h("textarea", null)), { value: "" })
  root.find("input").value = "typed"
  root.find("textarea").value = "typed"
  app.set({ value: "set" })
  await settled()
  assert.equal(root.find("input").value, "set")
  assert.equal(root.find("textarea").value, "typed")
})

test("writes true and false as words for aria and data only", () => {
  mount(root, () => h("p", { "aria-busy": false, "data-x": true, hidden: true, title: false }))
  const attributes = Object.fromEntries(root.find("p").attributes)
  assert.deepEqual(attributes, { "aria-busy": "false", "data-x": "true", hidden: "" })
})

test("calls the handler of the last render", async () => {
  const heard = []
  const app = mount(root, ({ name }) => h("button", { onClick: () => heard.push(name) }), { name: "a" })
  root.find("button").fire("click")
  app.set({ name: "b" })
  await settled()
  root.find("button").fire("click")
  assert.deepEqual(heard, ["a", "b"])
})

test("runs what comes after, when the page has followed", async () => {
  const app = mount(root, ({ text }) => h("p", null, text), { text: "old" })
  const seen = []
  app.set({ text: "new" })
  app.after((element) => seen.push(element.find("p").textContent))
  await settled()
  assert.deepEqual(seen, ["new"])
})

test("tells refs of elements that come and go", async () => {
  const seen = []
  const ref = (element) => seen.push(element?.tagName ?? null)
  const app = mount(root, ({ isThere }) => h("div", null, isThere && h("p", { ref })), { isThere: true })
  app.set({ isThere: false })
  await settled()
  assert.deepEqual(seen, ["P", null])
})

test("components get props and children", () => {
  const Box = ({ title }, children) => h("section", { title }, children)
  mount(root, () => h(Box, { title: "t" }, "in it"))
  assert.equal(root.find("section").getAttribute("title"), "t")
  assert.equal(root.find("section").textContent, "in it")
})
