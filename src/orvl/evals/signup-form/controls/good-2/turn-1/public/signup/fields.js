import { text } from "/messages.js"

const BOXES = ["small", "medium", "large"]

/** The office's number; 0 until the server has told us. */
export const policy = { least: 0 }

/** Everything that is asked, in the order of the page. `wrong` gives the codes for a value without blanks around it. */
export const FIELDS = [
  { name: "name", type: "text", autocomplete: "name", wrong: line((name) => name.length > 60 && "long") },
  { name: "email", type: "email", autocomplete: "email", wrong: line((email) => !isAddress(email) && "malformed") },
  { name: "phone", type: "tel", autocomplete: "tel", wrong: line((phone) => !isPhone(phone) && "malformed") },
  {
    name: "postcode", type: "text", autocomplete: "postal-code", inputmode: "numeric",
    wrong: line((postcode) => !/^[0-9]{5}$/.test(postcode.replace(/\s+/g, "")) && "malformed"),
  },
  { name: "box", options: ["", ...BOXES], wrong: (box) => (BOXES.includes(box) ? [] : ["missing"]) },
  { name: "heard", type: "text", wrong: line((heard) => heard.length > 40 && "long") },
  { name: "password", type: "password", autocomplete: "new-password", wrong: password },
  { name: "terms", type: "checkbox", wrong: (isTicked) => (isTicked ? [] : ["missing"]) },
]

function line(mistake) {
  return (value) => {
    const code = value.trim() === "" ? "missing" : mistake(value.trim())
    return code ? [code] : []
  }
}

function password(value) {
  if (value === "") return ["missing"]
  const needs = { short: value.length >= policy.least, letter: /\p{L}/u.test(value), digit: /[0-9]/.test(value) }
  return Object.keys(needs).filter((need) => !needs[need])
}

function isAddress(email) {
  const [, domain, more] = email.split("@")
  if (/\s/.test(email) || email.startsWith("@") || domain === undefined || more !== undefined) return false
  const dot = domain.lastIndexOf(".")
  return dot > 0 && domain.length - dot > 2
}

function isPhone(phone) {
  const digits = phone.match(/[0-9]/g)?.length ?? 0
  return digits >= 7 && digits <= 15 && /^[0-9\s()+./-]*$/.test(phone)
}

export function labelOf(field) {
  return text(`label.${field.name}`)
}

export function textOf(field, code) {
  return text(`${field.name}.${code}`, policy)
}

export function optionText(value) {
  return text(`box.${value || "choose"}`)
}
