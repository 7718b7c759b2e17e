import { h } from "/twig/twig.js"

/** A checkbox with our own tick. */
export function Tick({ name, label, value, onTick }) {
  return h("div", { class: "tick", "data-name": name, onClick: () => onTick(!value) },
    h("span", { class: value ? "tick-box tick-on" : "tick-box" }, value ? "✓" : ""),
    h("span", { class: "tick-label" }, label))
}
