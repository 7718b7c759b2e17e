// A form that always says everything, marked and all.
import { text } from "/messages.js"

const FIELDS = {
  name: ["missing", "long"], email: ["missing", "malformed", "taken"], phone: ["missing", "malformed"],
  postcode: ["missing", "malformed", "outside"], box: ["missing"], heard: ["missing", "long"],
  password: ["missing", "short", "digit", "letter", "known"], terms: ["missing"],
}
const rows = Object.entries(FIELDS).map(([name, codes]) => {
  const type = name === "terms" ? "checkbox" : name === "password" ? "password" : "text"
  const control = name === "box"
    ? `<select id="box" name="box"><option value="">${text("box.choose")}</option><option value="small">s</option><option value="medium">m</option><option value="large">l</option></select>`
    : `<input id="${name}" name="${name}" type="${type}">`
  const marked = control.replace(" id=", ` aria-invalid="true" aria-describedby="${name}-error" id=`)
  return `<p><label for="${name}">${text(`label.${name}`)}</label>${marked}</p><p id="${name}-error">${codes.map((code) => text(`${name}.${code}`)).join(" ")}</p>`
})
document.getElementById("app").innerHTML = `<form aria-busy="true"><h1>${text("signup.title")}</h1>${rows.join("")}
<p role="alert">${text("form.sick")} ${text("form.offline")}</p><button>${text("button.busy")} ${text("button.join")}</button></form>`
document.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault()
  document.getElementById("name").focus()
})
