import { h } from "/twig/twig.js"
import { text } from "/messages.js"

/** What members see once they are in. The heading can have the focus. */
export function Welcome({ member }) {
  return h("div", { class: "form" },
    h("h1", { class: "form-title", tabindex: -1 }, text("welcome.title")),
    h("p", null, text("welcome.number", { number: member })))
}
