import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { dirname } from "node:path"

const FIRST = 1001

/** Everybody who has joined: a file with one JSON object a line, and the same in memory. */
export class Members {
  #path
  #all

  constructor(path) {
    this.#path = path
    mkdirSync(dirname(path), { recursive: true })
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : []
    this.#all = lines.filter((line) => line.trim()).map((line) => JSON.parse(line))
  }

  get count() {
    return this.#all.length
  }

  /** Who has joined with this address, however it is spelled. */
  find(email) {
    return this.#all.find((member) => spelledAlike(member.email) === spelledAlike(email))
  }

  /** Writes a member down, with the next number. */
  add(about) {
    const last = this.#all.reduce((most, { number }) => Math.max(most, number), FIRST - 1)
    const member = { number: last + 1, joined: new Date().toISOString(), ...about }
    appendFileSync(this.#path, JSON.stringify(member) + "\n")
    this.#all.push(member)
    return member
  }
}

function spelledAlike(email) {
  return email.trim().normalize("NFC").toLowerCase()
}
