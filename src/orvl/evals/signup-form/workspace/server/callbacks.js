import { appendFileSync } from "node:fs"
import { join } from "node:path"

/** Somebody wants to be called: 201, or 422 if we do not know whom or where. */
export async function callBack(body, { folder }) {
  const [name, number, when] = ["name", "number", "when"].map((key) => String(body[key] ?? "").trim())
  if (name === "" || number.replace(/\D/g, "").length < 7) return [422, { errors: [{ field: "number", code: "callback.wrong" }] }]
  const row = { asked: new Date().toISOString(), name, number, when }
  appendFileSync(join(folder, "callbacks.jsonl"), JSON.stringify(row) + "\n")
  return [201, {}]
}
