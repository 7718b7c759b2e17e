import { h } from "/twig/twig.js"

const errorId = (name) => `${name}-error`

/** A control under its label, and above what is wrong with it. */
function Labelled({ name, label, errors }, children) {
  return h("div", { class: "field" },
    h("label", { class: "field-label", for: name }, label),
    children,
    h(Errors, { name, errors }))
}

/** The place for what is wrong with a control; empty if nothing is, so that nothing moves when there is. */
function Errors({ name, errors }) {
  return h("div", { class: "field-errors", id: errorId(name) }, errors.map((error) => h("p", { key: error }, error)))
}

/** What every control has. */
function controlProps({ name, errors }) {
  const isWrong = errors.length > 0
  return {
    id: name,
    name,
    class: "field-control",
    "aria-invalid": isWrong,
    "aria-describedby": isWrong ? errorId(name) : null,
  }
}

/** A line to type into. `hints` are attributes that tell browsers what it is for; `onInput` gets the text. */
export function TextField({ name, label, errors, value, hints, onInput }) {
  const props = { ...hints, ...controlProps({ name, errors }), value }
  return h(Labelled, { name, label, errors },
    h("input", { ...props, onInput: (event) => onInput(event.target.value) }))
}

/** A list to choose from. `options` are pairs of a value and its text. */
export function Select({ name, label, errors, options, value, onPick }) {
  return h(Labelled, { name, label, errors },
    h("select", { ...controlProps({ name, errors }), value, onChange: (event) => onPick(event.target.value) },
      options.map(([option, text]) => h("option", { key: option, value: option }, text))))
}

/** A box to tick; its label stands beside it. */
export function Checkbox({ name, label, errors, value, onTick }) {
  const props = { ...controlProps({ name, errors }), class: "field-tick", type: "checkbox", checked: value }
  return h("div", { class: "field" },
    h("div", { class: "field-row" },
      h("input", { ...props, onChange: (event) => onTick(event.target.checked) }),
      h("label", { for: name }, label)),
    h(Errors, { name, errors }))
}
