import { h } from "/twig/twig.js"

/** Something to read, above or in a form. `kind` is `good` or `bad`; `role` as in ARIA, if people should hear of it. */
export function Notice({ kind = "bad", text, role = null }) {
  return h("p", { class: `notice notice-${kind}`, role }, text)
}
