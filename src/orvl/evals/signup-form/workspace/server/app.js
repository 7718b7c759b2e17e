import { createServer } from "node:http"
import { join } from "node:path"
import { callBack } from "./callbacks.js"
import { createDev, noDev } from "./dev.js"
import { readJson, sendJson, WrongRequest } from "./json.js"
import { logLine } from "./log.js"
import { Members } from "./members.js"
import { policy } from "./policy.js"
import { signUp } from "./signups.js"
import { sendFile } from "./static.js"

const API = {
  "GET /api/policy": async () => [200, { least: policy.least }],
  "POST /api/signups": signUp,
  "POST /api/callbacks": callBack,
}

/** The whole server; `folder` is where members are kept, `isDev` opens docs/dev.md's addresses. */
export function createApp({ folder, isDev = false, log = () => {} }) {
  const members = new Members(join(folder, "members.jsonl"))
  const dev = isDev ? createDev(members) : noDev
  const shop = { folder, members }

  return createServer(async (request, response) => {
    const began = Date.now()
    response.shouldKeepAlive = false // the balancer in front of us counts connections
    const { pathname } = new URL(request.url, "http://localhost")
    response.on("close", () => log(logLine(request, response, Date.now() - began)))
    try {
      if (dev.handles(pathname)) return dev.handle(pathname, response)
      const handler = API[`${request.method} ${pathname}`]
      if (handler) return await dev.around(request, response, () => answer(handler, request, response, shop))
      if (pathname.startsWith("/api/")) return sendJson(response, 404, { error: "There is no such thing." })
      await sendFile(pathname, response)
    } catch (error) {
      fail(error, response, log)
    }
  })
}

/** Runs a handler on what was sent; what it gives is a status and what to say. */
async function answer(handler, request, response, shop) {
  const body = request.method === "POST" ? await readJson(request) : null
  const [status, said] = await handler(body, shop)
  response.said = said
  return () => sendJson(response, status, said)
}

function fail(error, response, log) {
  if (error instanceof WrongRequest) return sendJson(response, 400, { error: error.message })
  log(error.stack)
  if (!response.headersSent) {
    response.writeHead(500, { "Content-Type": "text/html" })
    response.end("<h1>500</h1>\n")
  }
}
