import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { openShop, SOMEBODY } from "./shop.js"

let shop

before(async () => {
  shop = await openShop({ isDev: true })
})

after(() => shop.close())

test("serves pages with a policy", async () => {
  for (const path of ["/", "/callback"]) {
    const answer = await shop.get(path)
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get("content-security-policy"), /default-src 'self'/)
  }
})

test("serves nothing from outside of public", async () => {
  for (const path of ["/server.js", "/..%2fserver.js", "/%2e%2e/package.json", "/twig/README.md", "/%"]) {
    assert.equal((await shop.get(path)).status, 404)
  }
})

test("says what the policy is", async () => {
  const { least } = await (await shop.get("/api/policy")).json()
  assert.equal(typeof least, "number")
})

test("takes call-backs", async () => {
  assert.equal((await shop.post("/api/callbacks", { name: "Ada", number: "030 5550142" })).status, 201)
  assert.equal((await shop.post("/api/callbacks", { name: "Ada", number: "later" })).status, 422)
})

test("fails as often as it was told", async () => {
  await shop.get("/dev/fail/503/1")
  assert.equal((await shop.post("/api/signups", SOMEBODY)).status, 503)
  assert.equal((await shop.post("/api/signups", SOMEBODY)).status, 201)
})

test("loses an answer", async () => {
  await shop.get("/dev/lose/1")
  await assert.rejects(shop.post("/api/signups", { ...SOMEBODY, email: "lost@lund.example" }))
  assert.ok(shop.members().some(({ email }) => email === "lost@lund.example"))
})

test("counts what it received", async () => {
  await shop.get("/dev/reset")
  await shop.post("/api/signups", {})
  assert.match(await (await shop.get("/dev/counts")).text(), /id="received">1</)
})
