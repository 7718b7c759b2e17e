import { h, mount } from "/twig/twig.js"
import { SubmitButton } from "/ui/button.js"
import { Field } from "/ui/field.js"
import { Notice } from "/ui/notice.js"
import { Page } from "/ui/page.js"
import { links, text } from "/messages.js"

const START = { values: { name: "", number: "", when: "" }, notice: "", kind: "bad" }

const app = mount(document.getElementById("app"), view, START)

function view(state) {
  const field = (name, isOptional) => h(Field, {
    name,
    key: name,
    label: isOptional ? text("label.optional", { label: text(`callback.${name}`) }) : text(`callback.${name}`),
    value: state.values[name],
    onInput: (value) => app.set((last) => ({ values: { ...last.values, [name]: value } })),
  })
  return h(Page, { house: text("house"), links },
    h("form", { class: "form", novalidate: true, onSubmit: submit },
      h("h1", { class: "form-title" }, text("callback.title")),
      state.notice && h(Notice, { text: state.notice, kind: state.kind }),
      field("name"),
      field("number"),
      field("when", true),
      h(SubmitButton, { label: text("callback.button") })))
}

/** Sends it; whoever has been promised a call finds the fields empty again. */
async function submit(event) {
  event.preventDefault()
  const answer = await fetch("/api/callbacks", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(app.state.values),
  })
  if (answer.status === 201) {
    app.set({ ...START, notice: text("callback.thanks"), kind: "good" })
  } else {
    app.set({ notice: text("callback.wrong"), kind: "bad" })
  }
}
