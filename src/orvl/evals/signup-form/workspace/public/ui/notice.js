import { h } from "/twig/twig.js"

/** Something to read, above a form. `kind` is `good` or `bad`. */
export function Notice({ kind = "bad", text }) {
  return h("p", { class: `notice notice-${kind}` }, text)
}
