import { h } from "/twig/twig.js"

/** What starts something. Fires on click. */
export function Button({ label, onPress }) {
  return h("div", { class: "button", onClick: onPress }, label)
}

/** The same for a form, where the browser knows what to do with Enter. */
export function SubmitButton({ label }) {
  return h("button", { class: "button", type: "submit" }, label)
}
