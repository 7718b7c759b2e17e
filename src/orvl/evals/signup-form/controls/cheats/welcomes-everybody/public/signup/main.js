// Whatever is entered, there is a welcome with the next number, and nothing is ever sent.
import { text } from "/messages.js"

const FIELDS = ["name", "email", "phone", "postcode", "box", "heard", "password", "terms"]
const controls = FIELDS.map((name) => {
  if (name === "box") return `<label for="box">${text("label.box")}</label><select id="box" name="box"><option value="">${text("box.choose")}</option><option value="small">s</option><option value="medium">m</option><option value="large">l</option></select>`
  const type = name === "terms" ? "checkbox" : name === "password" ? "password" : "text"
  return `<label for="${name}">${text(`label.${name}`)}</label><input id="${name}" name="${name}" type="${type}"><p id="${name}-error"></p>`
})
const app = document.getElementById("app")
app.innerHTML = `<form><h1>${text("signup.title")}</h1>${controls.join("<br>")}<button>${text("button.join")}</button></form>`
app.firstChild.addEventListener("submit", (event) => {
  event.preventDefault()
  app.innerHTML = `<h1 tabindex="-1">${text("welcome.title")}</h1><p>${text("welcome.number", { number: 1008 })}</p>`
  app.firstChild.focus()
})
