// What we check before we ask the server. It has the same rules.

export const FIELDS = ["name", "email", "phone", "postcode", "box", "heard", "password", "terms"]
export const BOXES = ["small", "medium", "large"]

const RULES = {
  name: (text) => text.length > 0,
  email: (text) => /^\w+@\w+\.\w+$/.test(text),
  phone: (text) => /^\d{7,15}$/.test(text),
  postcode: (text) => /^\d{5}$/.test(text),
  box: (value) => BOXES.includes(value),
  heard: (text) => text.length > 0,
  password: (text) => text.length >= 6,
  terms: (value) => value === true,
}

/** The names of the fields that are wrong. */
export function wrongFields(values) {
  return FIELDS.filter((name) => !RULES[name](values[name] ?? ""))
}
