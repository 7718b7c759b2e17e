import { cleaned } from "../public/shared/rules.js"
import { passwordHash } from "./passwords.js"
import { errorsOf } from "./rules.js"

/** Somebody signs up: 201 and a number, or what is wrong. */
export async function signUp(body, { members }) {
  const signup = cleaned(body)
  const attempt = typeof body.attempt === "string" && body.attempt !== "" ? body.attempt : undefined
  const errors = errorsOf(signup)
  const { password, terms, ...about } = signup
  const hash = errors.length === 0 ? await passwordHash(password) : null
  // Nothing may wait from here on: two requests with one address can come at once.
  const known = members.find(signup.email)
  if (known && attempt !== undefined && known.attempt === attempt) return [201, { member: known.number }]
  if (known) errors.push({ field: "email", code: "email.taken" })
  if (errors.length > 0) return [422, { errors }]
  return [201, { member: members.add({ ...about, password: hash, attempt }).number }]
}
