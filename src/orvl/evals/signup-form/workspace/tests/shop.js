import { mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createApp } from "../server/app.js"

/** A server on a port of its own, with nobody in it. */
export async function openShop(options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "shop-"))
  const app = createApp({ folder, ...options })
  await new Promise((resolve) => app.listen(0, "127.0.0.1", resolve))
  const address = `http://127.0.0.1:${app.address().port}`
  return {
    get: (path) => fetch(address + path),
    post: (path, body) => fetch(address + path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) }),
    members: () => readFileSync(join(folder, "members.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line)),
    close: () => app.close(),
  }
}

export const SOMEBODY = {
  name: "Ada Lund", email: "ada@lund.example", phone: "030 5550142", postcode: "10115", box: "small", heard: "Ines",
  password: "seven7radishes", terms: true,
}
