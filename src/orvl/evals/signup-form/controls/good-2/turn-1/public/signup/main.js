import { h, mount } from "/twig/twig.js"
import { links, text } from "/messages.js"
import { Page } from "/ui/page.js"
import { Control } from "./control.js"
import { el } from "./dom.js"
import { FIELDS, policy } from "./fields.js"

// twig draws what is around the form. The form itself is made once and then changed where something changes.
let place
mount(document.getElementById("app"), () => h(Page, { house: text("house"), links }, h("div", { ref: (element) => { place = element } })))

const controls = FIELDS.map((field) => new Control(field))
const button = el("button", { type: "submit", class: "button" }, text("button.join"))
const trouble = el("div", { role: "alert", class: "errors" })
const form = el("form", { class: "form", novalidate: true, "aria-busy": "false" },
  el("h1", { class: "form-title" }, text("signup.title")), ...controls.map(({ element }) => element), trouble, button)
let isBusy = false

place.append(form)
form.addEventListener("submit", submit)
for (const control of controls) listenTo(control)
fetch("/api/policy").then((answer) => answer.json()).then((found) => Object.assign(policy, found)).catch(() => {})

/** Checked when it is left; once marked, with every key. */
function listenTo(control) {
  const check = () => control.mark(control.mistakes())
  control.input.addEventListener("input", () => control.isMarked && check())
  control.input.addEventListener("focusout", () => !isBusy && !control.isMarked && check())
}

async function submit(event) {
  event.preventDefault()
  if (isBusy) return
  trouble.replaceChildren()
  for (const control of controls) control.mark(control.mistakes())
  if (goToFirstMarked()) return
  setBusy(true)
  const said = await ask(Object.fromEntries(controls.map(({ field, value }) => [field.name, value])))
  setBusy(false)
  if (said.member !== undefined) welcome(said.member)
  else if (said.errors) showErrors(said.errors)
  else trouble.append(text(said.trouble))
}

function setBusy(is) {
  isBusy = is
  form.setAttribute("aria-busy", String(is))
  button.textContent = text(is ? "button.busy" : "button.join")
}

function goToFirstMarked() {
  const first = controls.find((control) => control.isMarked)
  first?.input.focus()
  return first !== undefined
}

/** The server's list, in any order. */
function showErrors(errors) {
  for (const control of controls) {
    const own = errors.filter(({ field }) => field === control.field.name)
    control.mark(own.map(({ code }) => code.slice(code.indexOf(".") + 1)))
  }
  goToFirstMarked()
}

/** What the server says: `member`, `errors`, or the key of a text about `trouble`. */
async function ask(values) {
  let answer
  try {
    answer = await fetch("/api/signups", { method: "POST", body: JSON.stringify(values) })
    if (answer.status !== 201 && answer.status !== 422) return { trouble: "form.sick" }
    return await answer.json()
  } catch {
    return { trouble: "form.offline" }
  }
}

function welcome(number) {
  const title = el("h1", { class: "form-title", tabindex: "-1" }, text("welcome.title"))
  form.replaceWith(el("section", { class: "form" }, title, el("p", {}, text("welcome.number", { number }))))
  title.focus()
}
