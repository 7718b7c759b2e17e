import { h } from "/twig/twig.js"

/**
 * Sends the form that it is in. A busy one can still have the focus, but does nothing:
 * a disabled one would lose it.
 */
export function SubmitButton({ label, isBusy = false }) {
  return h("button", { class: "button", type: "submit", "aria-disabled": isBusy || null }, label)
}
