const MOST = 64 * 1024

/** A request that makes no sense, whoever is signing up. */
export class WrongRequest extends Error {}

/** The JSON object that was sent. */
export async function readJson(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size <= MOST) chunks.push(chunk)
  }
  if (size > MOST) throw new WrongRequest("That is too much.")
  try {
    const found = JSON.parse(Buffer.concat(chunks).toString("utf8"))
    if (found !== null && typeof found === "object" && !Array.isArray(found)) return found
  } catch {
    // said below
  }
  throw new WrongRequest("A request is a JSON object.")
}

export function sendJson(response, status, said) {
  response.writeHead(status, { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" })
  response.end(JSON.stringify(said) + "\n")
}
