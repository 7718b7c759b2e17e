#!/usr/bin/env node
// Prints whom the newsletter goes to, one a line: Name <address>. Runs every Friday, from cron, on the members of the shop.
import { readFileSync } from "node:fs"

const path = process.argv[2] ?? "data/members.jsonl"
const members = readFileSync(path, "utf8").split("\n").filter((line) => line).map((line) => JSON.parse(line))
for (const { name, email } of members) {
  console.log(`${name} <${email}>`)
}
