import { el } from "./dom.js"
import { labelOf, optionText, textOf } from "./fields.js"

/** One field on the page: its label, its control, and what is wrong with it. */
export class Control {
  constructor(field) {
    this.field = field
    this.input = controlOf(field)
    this.label = el("label", { for: field.name, class: "label" }, labelOf(field))
    this.error = el("ul", { id: `${field.name}-error`, class: "errors" })
    const first = field.type === "checkbox" ? [this.input, this.label] : [this.label, this.input]
    this.element = el("div", { class: `row row-${field.type ?? "select"}` }, ...first, this.error)
  }

  get value() {
    return this.field.type === "checkbox" ? this.input.checked : this.input.value
  }

  get isMarked() {
    return this.input.getAttribute("aria-invalid") === "true"
  }

  /** The codes of what is wrong with it now. */
  mistakes() {
    return this.field.wrong(this.value)
  }

  /** Shows these codes and no others. */
  mark(codes) {
    this.error.replaceChildren(...codes.map((code) => el("li", {}, textOf(this.field, code))))
    if (codes.length > 0) {
      this.input.setAttribute("aria-invalid", "true")
      this.input.setAttribute("aria-describedby", this.error.id)
    } else {
      this.input.removeAttribute("aria-invalid")
      this.input.removeAttribute("aria-describedby")
    }
  }
}

function controlOf({ name, type, autocomplete, inputmode, options }) {
  if (!options) return el("input", { id: name, name, type, autocomplete, inputmode, class: "input" })
  return el("select", { id: name, name, class: "input" }, ...options.map((value) => el("option", { value }, optionText(value))))
}
