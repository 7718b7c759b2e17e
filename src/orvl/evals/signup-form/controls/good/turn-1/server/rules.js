import { FIELDS, codesOf, digitsOf } from "../public/shared/rules.js"
import { policy } from "./policy.js"

const KNOWN = ["password123", "passwort1234", "qwertyuiop12", "iloveyou1234", "letmein12345", "1234567890abc"]

/** What only we can judge, for texts that are well-formed. */
const OURS = {
  password: (password) => (KNOWN.includes(password.toLowerCase()) ? ["password.known"] : []),
  postcode: (postcode) => (policy.areas.includes(digitsOf(postcode).slice(0, 2)) ? [] : ["postcode.outside"]),
}

/** All that is wrong, as `{ field, code }`. */
export function errorsOf(signup) {
  return FIELDS.flatMap((field) => allCodes(field, signup).map((code) => ({ field, code })))
}

function allCodes(field, signup) {
  const codes = codesOf(field, signup, policy)
  if (field === "password") return [...codes, ...OURS.password(signup.password)]
  return codes.length === 0 && OURS[field] ? OURS[field](signup[field]) : codes
}
