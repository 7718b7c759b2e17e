import { h } from "/twig/twig.js"
import { Button } from "/ui/button.js"
import { Field } from "/ui/field.js"
import { Notice } from "/ui/notice.js"
import { Picker } from "/ui/picker.js"
import { Tick } from "/ui/tick.js"
import { text } from "/messages.js"
import { BOXES } from "./rules.js"

const TYPES = { password: "password" }

/** The sign-up form. `actions` are `change(name, value)`, `toggle()` and `submit()`. */
export function SignupForm({ state, actions }) {
  const { values } = state
  const field = (name) => h(Field, {
    name,
    key: name,
    label: text(`label.${name}`),
    type: TYPES[name],
    onInput: (value) => actions.change(name, value),
  })
  // The key is new for each attempt, so that no browser keeps the password for the next person.
  return h("div", { class: "form", key: `attempt ${state.attempts}` },
    h("h1", { class: "form-title" }, text("signup.title")),
    state.notice && h(Notice, { text: state.notice }),
    field("name"),
    field("email"),
    field("phone"),
    field("postcode"),
    h(Picker, {
      name: "box",
      label: text("label.box"),
      options: BOXES.map((box) => [box, text(`box.${box}`)]),
      value: values.box,
      open: state.isOpen,
      onOpen: actions.toggle,
      onPick: (box) => actions.change("box", box),
    }),
    field("heard"),
    field("password"),
    h(Tick, {
      name: "terms",
      label: text("label.terms"),
      value: values.terms === true,
      onTick: (value) => actions.change("terms", value),
    }),
    h(Button, { label: text("button.join"), onPress: actions.submit }))
}
