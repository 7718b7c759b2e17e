import { h } from "/twig/twig.js"
import { SubmitButton } from "/ui/button.js"
import { Checkbox, Select, TextField } from "/ui/labelled.js"
import { Notice } from "/ui/notice.js"
import { text } from "/messages.js"
import { BOXES } from "/shared/rules.js"

/** What browsers are told of fields, see docs/forms.md. */
const HINTS = {
  name: { type: "text", autocomplete: "name" },
  email: { type: "email", autocomplete: "email" },
  phone: { type: "tel", autocomplete: "tel" },
  postcode: { type: "text", autocomplete: "postal-code", inputmode: "numeric" },
  heard: { type: "text" },
  password: { type: "password", autocomplete: "new-password" },
}

const BOX_OPTIONS = [["", text("box.choose")], ...BOXES.map((box) => [box, text(`box.${box}`)])]

/** The sign-up form. `errors` has the codes that are shown; `actions` are `change(name, value)`, `leave(name)` and `submit()`. */
export function SignupForm({ values, errors, policy, isBusy, trouble, actions }) {
  const common = (name) => ({
    name,
    key: name,
    label: text(`label.${name}`),
    errors: (errors[name] ?? []).map((code) => text(code, policy)),
    value: values[name],
    onLeave: () => actions.leave(name),
  })
  const change = (name) => (value) => actions.change(name, value)
  const line = (name) => h(TextField, { ...common(name), hints: HINTS[name], onInput: change(name) })
  const submit = (event) => {
    event.preventDefault()
    actions.submit()
  }

  return h("form", { class: "form", novalidate: true, "aria-busy": isBusy, onSubmit: submit },
    h("h1", { class: "form-title" }, text("signup.title")),
    line("name"),
    line("email"),
    line("phone"),
    line("postcode"),
    h(Select, { ...common("box"), options: BOX_OPTIONS, onPick: change("box") }),
    line("heard"),
    line("password"),
    h(Checkbox, { ...common("terms"), onTick: change("terms") }),
    trouble && h(Notice, { role: "alert", text: text(`form.${trouble}`) }),
    h(SubmitButton, { isBusy, label: text(isBusy ? "button.busy" : "button.join") }))
}
