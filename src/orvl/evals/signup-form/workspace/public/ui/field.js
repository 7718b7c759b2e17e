import { h } from "/twig/twig.js"

/**
 * A line to type into. The label is in the field as long as it is empty, which saves a lot of room.
 * `onInput` gets the text.
 */
export function Field({ name, label, type = "text", value, onInput }) {
  const props = { id: `f-${name}`, class: "field-input", type, placeholder: label, autocomplete: "off" }
  if (value !== undefined) props.value = value
  return h("div", { class: "field" },
    h("input", { ...props, onInput: (event) => onInput(event.target.value) }))
}
