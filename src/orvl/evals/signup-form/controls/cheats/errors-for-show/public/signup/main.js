// Whatever is entered, it is missing, and the first field gets the focus.
import { text } from "/messages.js"

const FIELDS = ["name", "email", "phone", "postcode", "box", "heard", "password", "terms"]
const app = document.getElementById("app")
app.innerHTML = `<form novalidate><h1>${text("signup.title")}</h1><button>${text("button.join")}</button></form>`
const form = app.firstChild
for (const name of FIELDS) {
  const label = Object.assign(document.createElement("label"), { htmlFor: name, textContent: text(`label.${name}`) })
  const input = Object.assign(document.createElement("input"), { id: name, name, type: name === "terms" ? "checkbox" : "text" })
  const error = Object.assign(document.createElement("p"), { id: `${name}-error` })
  form.append(label, input, error)
}
form.addEventListener("submit", (event) => {
  event.preventDefault()
  for (const name of FIELDS) {
    document.getElementById(`${name}-error`).textContent = text(`${name}.missing`)
    document.getElementById(name).setAttribute("aria-invalid", "true")
    document.getElementById(name).setAttribute("aria-describedby", `${name}-error`)
  }
  document.getElementById("name").focus()
})
