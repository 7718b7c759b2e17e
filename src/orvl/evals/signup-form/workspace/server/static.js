import { readFile } from "node:fs/promises"
import { extname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"

const PUBLIC = fileURLToPath(new URL("../public/", import.meta.url))
const PAGES = { "/": "index.html", "/callback": "callback.html" }
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
}
const POLICY = "default-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'"

/** Sends a page, or a file of public/ of a kind that pages need. */
export async function sendFile(path, response) {
  const name = PAGES[path] ?? safe(path)
  const type = TYPES[extname(name)]
  const content = type ? await readFile(join(PUBLIC, name)).catch(() => null) : null
  if (content === null) {
    response.writeHead(404, { "Content-Type": "text/plain; charset=utf-8" })
    response.end("Not found\n")
    return
  }
  response.writeHead(200, { "Content-Type": type, "Content-Security-Policy": POLICY, "Cache-Control": "no-cache" })
  response.end(content)
}

/** A path that cannot leave its folder. */
function safe(path) {
  try {
    return normalize(join("/", decodeURIComponent(path)))
  } catch {
    return "/"
  }
}
