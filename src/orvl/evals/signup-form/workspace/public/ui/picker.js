import { h } from "/twig/twig.js"

/** A select that looks the same in all browsers. `options` are pairs of a value and its text. */
export function Picker({ name, label, options, value, open, onOpen, onPick }) {
  const chosen = options.find(([option]) => option === value)
  return h("div", { class: "picker", "data-name": name },
    h("div", { class: "picker-value", onClick: onOpen }, chosen ? chosen[1] : label),
    open && h("div", { class: "picker-list" }, options.map(([option, text]) =>
      h("div", { class: "picker-option", key: option, onClick: () => onPick(option) }, text))))
}
