import { readFileSync } from "node:fs"

/** What the office changes now and then: `least` characters of a password, and the `areas` that the van goes to. */
export const policy = JSON.parse(readFileSync(new URL("policy.json", import.meta.url), "utf8"))
