import assert from "node:assert/strict"
import { test } from "node:test"
import { FIELDS, cleaned, codesOf } from "../public/shared/rules.js"
import { SOMEBODY } from "./shop.js"

const POLICY = { least: 10 }

function codes(change) {
  const signup = cleaned({ ...SOMEBODY, ...change })
  return FIELDS.flatMap((field) => codesOf(field, signup, POLICY))
}

test("somebody is fine", () => {
  assert.deepEqual(codes({}), [])
  assert.deepEqual(codes({ email: "a.b+c@x-y.example", phone: "+49 (30) 555-0142", postcode: "10 115" }), [])
})

test("goes to its limits", () => {
  assert.deepEqual(codes({ name: "n".repeat(60), heard: "h".repeat(40) }), [])
  assert.deepEqual(codes({ name: "n".repeat(61), heard: "h".repeat(41) }), ["name.long", "heard.long"])
})

test("a password may lack several things", () => {
  assert.deepEqual(codes({ password: "ab" }), ["password.short", "password.digit"])
  assert.deepEqual(codes({ password: "ж".repeat(9) + "1" }), [])
})
