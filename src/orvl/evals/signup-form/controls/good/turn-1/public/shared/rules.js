// What a sign-up must be like. The page and the server both go by it; what only the server can judge is in server/rules.js.

/** In the order of the page. */
export const FIELDS = ["name", "email", "phone", "postcode", "box", "heard", "password", "terms"]
export const BOXES = ["small", "medium", "large"]

const TEXTS = ["name", "email", "phone", "postcode", "box", "heard"]
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]{2,}$/
const DIALLED = /^[\d\s+\-/().]+$/

/** Of each field, the codes of what is wrong with it. */
const RULES = {
  name: (name) => given("name", name, name.length > 60 ? ["name.long"] : []),
  email: (email) => given("email", email, ADDRESS.test(email) ? [] : ["email.malformed"]),
  phone: (phone) => given("phone", phone, isPhone(phone) ? [] : ["phone.malformed"]),
  postcode: (postcode) => given("postcode", postcode, /^\d{5}$/.test(digitsOf(postcode)) ? [] : ["postcode.malformed"]),
  box: (box) => (BOXES.includes(box) ? [] : ["box.missing"]),
  heard: (heard) => given("heard", heard, heard.length > 40 ? ["heard.long"] : []),
  password: (password, policy) => given("password", password, lacking(password, policy)),
  terms: (terms) => (terms === true ? [] : ["terms.missing"]),
}

/** What is wrong with a text, if there is one at all. */
function given(field, text, codes) {
  return text === "" ? [`${field}.missing`] : codes
}

function isPhone(phone) {
  const digits = phone.replace(/\D/g, "").length
  return DIALLED.test(phone) && digits >= 7 && digits <= 15
}

/** A postcode without its blanks. */
export function digitsOf(postcode) {
  return postcode.replace(/\s/g, "")
}

function lacking(password, { least }) {
  const codes = []
  if (password.length < least) codes.push("password.short")
  if (!/\d/.test(password)) codes.push("password.digit")
  if (!/\p{L}/u.test(password)) codes.push("password.letter")
  return codes
}

/** What is wrong with one field of a cleaned sign-up. */
export function codesOf(field, signup, policy) {
  return RULES[field](signup[field], policy)
}

/** What was sent, without blanks around it; what is no text is an empty one. Passwords stay as they are. */
export function cleaned(body) {
  const signup = Object.fromEntries(TEXTS.map((field) => [field, textOf(body[field]).trim()]))
  return { ...signup, password: textOf(body.password), terms: body.terms === true }
}

function textOf(value) {
  return typeof value === "string" ? value : ""
}
