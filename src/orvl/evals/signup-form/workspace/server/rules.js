import { policy } from "./policy.js"

const BOXES = ["small", "medium", "large"]
const KNOWN = ["password123", "passwort1234", "qwertyuiop12", "iloveyou1234", "letmein12345", "1234567890abc"]
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/
const DIALLED = /^[\d\s+\-/().]+$/

/** Of each field, the codes of what is wrong with it. */
const RULES = {
  box: (box) => (BOXES.includes(box) ? [] : ["box.missing"]),
  email: (email) => (email === "" ? ["email.missing"] : ADDRESS.test(email) ? [] : ["email.malformed"]),
  heard: (heard) => (heard === "" ? ["heard.missing"] : heard.length > 40 ? ["heard.long"] : []),
  name: (name) => (name === "" ? ["name.missing"] : name.length > 60 ? ["name.long"] : []),
  password: passwordCodes,
  phone: (phone) => (phone === "" ? ["phone.missing"] : isPhone(phone) ? [] : ["phone.malformed"]),
  postcode: postcodeCodes,
  terms: (terms) => (terms === true ? [] : ["terms.missing"]),
}

function isPhone(phone) {
  const digits = phone.replace(/\D/g, "").length
  return DIALLED.test(phone) && digits >= 7 && digits <= 15
}

function postcodeCodes(postcode) {
  if (postcode === "") return ["postcode.missing"]
  const digits = postcode.replace(/\s/g, "")
  if (!/^\d{5}$/.test(digits)) return ["postcode.malformed"]
  return policy.areas.includes(digits.slice(0, 2)) ? [] : ["postcode.outside"]
}

/** A password may lack several things at once. */
function passwordCodes(password) {
  if (password === "") return ["password.missing"]
  const codes = []
  if (password.length < policy.least) codes.push("password.short")
  if (!/\d/.test(password)) codes.push("password.digit")
  if (!/\p{L}/u.test(password)) codes.push("password.letter")
  if (KNOWN.includes(password.toLowerCase())) codes.push("password.known")
  return codes
}

/** All that is wrong, as `{ field, code }`. */
export function errorsOf(signup) {
  return Object.entries(RULES).flatMap(([field, rule]) => rule(signup[field]).map((code) => ({ field, code })))
}

/** What was sent, without blanks around it; what is no text is an empty one. Passwords stay as they are. */
export function cleaned(body) {
  const texts = ["name", "email", "phone", "postcode", "box", "heard"]
  const signup = Object.fromEntries(texts.map((field) => [field, textOf(body[field]).trim()]))
  return { ...signup, password: textOf(body.password), terms: body.terms === true }
}

function textOf(value) {
  return typeof value === "string" ? value : ""
}
