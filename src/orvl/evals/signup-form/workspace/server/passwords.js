import { randomBytes, scrypt } from "node:crypto"
import { promisify } from "node:util"

const derive = promisify(scrypt)
const LENGTH = 32

/** What we keep instead of a password: a salt and its hash. Takes a while, which is the point of it. */
export async function passwordHash(password) {
  const salt = randomBytes(16)
  const key = await derive(password.normalize("NFC"), salt, LENGTH)
  return `${salt.toString("hex")}:${key.toString("hex")}`
}
