import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { openShop, SOMEBODY } from "./shop.js"

let shop

before(async () => {
  shop = await openShop()
})

after(() => shop.close())

async function codes(change) {
  const answer = await shop.post("/api/signups", { ...SOMEBODY, email: "new@lund.example", ...change })
  assert.equal(answer.status, 422)
  return (await answer.json()).errors.map(({ code }) => code)
}

test("gives a new member a number", async () => {
  const answer = await shop.post("/api/signups", SOMEBODY)
  assert.equal(answer.status, 201)
  assert.deepEqual(await answer.json(), { member: 1001 })
  assert.equal(shop.members()[0].email, "ada@lund.example")
})

test("does not keep passwords as they are", async () => {
  await shop.post("/api/signups", { ...SOMEBODY, email: "secret@lund.example" })
  assert.ok(!JSON.stringify(shop.members()).includes(SOMEBODY.password))
})

test("names everything that is wrong", async () => {
  const answer = await shop.post("/api/signups", {})
  const { errors } = await answer.json()
  const fields = errors.map(({ field }) => field).sort()
  const needed = ["box", "email", "heard", "name", "password", "phone", "postcode", "terms"].filter((name) => name !== "{{optional}}")
  assert.deepEqual(fields, needed)
})

test("takes an address once", async () => {
  await shop.post("/api/signups", { ...SOMEBODY, email: "twice@lund.example" })
  assert.deepEqual(await codes({ email: "twice@lund.example" }), ["email.taken"])
})

test("knows addresses", async () => {
  assert.deepEqual(await codes({ email: "ada" }), ["email.malformed"])
  assert.deepEqual(await codes({ email: "ada@lund" }), ["email.malformed"])
  assert.equal((await shop.post("/api/signups", { ...SOMEBODY, email: " a.b+c@x-y.example " })).status, 201)
})

test("knows postcodes and areas", async () => {
  assert.deepEqual(await codes({ postcode: "1011" }), ["postcode.malformed"])
  assert.deepEqual(await codes({ postcode: "99999" }), ["postcode.outside"])
})

test("wants passwords that are hard to guess", async () => {
  assert.deepEqual(await codes({ password: "abc" }), ["password.short", "password.digit"])
  assert.deepEqual(await codes({ password: "2".repeat(20) }), ["password.letter"])
  assert.deepEqual(await codes({ password: "Letmein12345" }), ["password.known"])
})

test("says what makes no sense", async () => {
  for (const body of ["", "[]", "null", "{"]) {
    assert.equal((await shop.post("/api/signups", body)).status, 400)
  }
})

test("takes an address once, however it is spelled", async () => {
  await shop.post("/api/signups", { ...SOMEBODY, email: "Spelled@lund.example" })
  assert.deepEqual(await codes({ email: " sPELLED@LUND.example " }), ["email.taken"])
})

test("takes an address once, whenever it comes", async () => {
  const somebody = { ...SOMEBODY, email: "crowd@lund.example" }
  const answers = await Promise.all([1, 2, 3, 4].map(() => shop.post("/api/signups", somebody)))
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422, 422])
})

test("answers an attempt that comes again as the first time", async () => {
  const somebody = { ...SOMEBODY, email: "again@lund.example", attempt: "a1" }
  const first = await (await shop.post("/api/signups", somebody)).json()
  const second = await (await shop.post("/api/signups", somebody)).json()
  assert.deepEqual(second, first)
  assert.deepEqual(await codes({ email: "again@lund.example", attempt: "a2" }), ["email.taken"])
})
