// What somebody has entered, and which mistakes they see. Nothing in here changes: each function gives a new entry.

import { FIELDS, cleaned, codesOf } from "/shared/rules.js"

const EMPTY = { name: "", email: "", phone: "", postcode: "", box: "", heard: "", password: "", terms: false }

/** `errors` has the codes of each field that is marked. */
export const NOTHING = { values: EMPTY, errors: {} }

/** A field has another value. If it is marked, it is checked. */
export function changed({ values, errors }, name, value, policy) {
  const entry = { values: { ...values, [name]: value }, errors }
  return errors[name] ? checked(entry, [name], policy) : entry
}

/** Marks those of these fields that are wrong, and no longer those that are right. */
export function checked({ values, errors }, names, policy) {
  const signup = cleaned(values)
  const found = names.map((name) => [name, codesOf(name, signup, policy)])
  return { values, errors: marked({ ...errors, ...Object.fromEntries(found) }) }
}

export function checkedWholly(entry, policy) {
  return checked(entry, FIELDS, policy)
}

/** Marks what the server found. */
export function refused({ values }, list) {
  const errors = {}
  for (const { field, code } of list) errors[field] = [...(errors[field] ?? []), code]
  return { values, errors }
}

function marked(errors) {
  return Object.fromEntries(Object.entries(errors).filter(([, codes]) => codes.length > 0))
}

/** The first field on the page that is marked. */
export function firstWrong({ errors }) {
  return FIELDS.find((name) => errors[name])
}
