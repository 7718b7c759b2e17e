import { h } from "/twig/twig.js"
import { text } from "/messages.js"

/** What members see once they are in. */
export function Welcome({ member }) {
  return h("div", { class: "form" },
    h("h2", { class: "form-title" }, text("welcome.title")),
    h("p", null, text("welcome.number", { number: member })))
}
