import { cleaned } from "../public/shared/rules.js"
import { passwordHash } from "./passwords.js"
import { errorsOf } from "./rules.js"

/** Somebody signs up: 201 and a number, or what is wrong. */
export async function signUp(body, { members }) {
  const signup = cleaned(body)
  const errors = errorsOf(signup)
  if (members.has(signup.email)) errors.push({ field: "email", code: "email.taken" })
  if (errors.length > 0) return [422, { errors }]
  const { password, terms, ...about } = signup
  const member = members.add({ ...about, password: await passwordHash(password) })
  return [201, { member: member.number }]
}
