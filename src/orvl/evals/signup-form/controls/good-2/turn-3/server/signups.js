import { isPasswordOf, passwordHash } from "./passwords.js"
import { cleaned, errorsOf } from "./rules.js"

const TAKEN = { field: "email", code: "email.taken" }
/** By address: the last sign-up that is under way. The next one with this address waits for it. */
const underWay = new Map()

/** Somebody signs up: 201 and a number, or what is wrong. */
export async function signUp(body, { members }) {
  const signup = cleaned(body)
  const key = members.key(signup.email)
  const mine = (underWay.get(key) ?? Promise.resolve()).then(() => decide(signup, members))
  const settled = mine.catch(() => {})
  underWay.set(key, settled)
  try {
    return await mine
  } finally {
    if (underWay.get(key) === settled) underWay.delete(key)
  }
}

async function decide(signup, members) {
  const { password, terms, ...about } = signup
  const errors = errorsOf(signup)
  const known = members.byAddress(signup.email)
  if (known && errors.length === 0 && await isSame(known, about, password)) return [201, { member: known.number }]
  if (known) errors.push(TAKEN)
  if (errors.length > 0) return [422, { errors }]
  return [201, { member: members.add({ ...about, password: await passwordHash(password) }).number }]
}

/** Whether somebody only says again what they have said: every word of it, and the password. */
async function isSame(known, about, password) {
  const isAlike = Object.keys(about).every((field) => about[field] === known[field])
  return isAlike && isPasswordOf(known.password, password)
}
