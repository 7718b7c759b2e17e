import { setTimeout as sleep } from "node:timers/promises"

const SWITCH = /^\/dev\/(slow|fail|lose|reset|counts)(?:\/(\d+))?(?:\/(\d+))?$/
const NORMAL = { slow: 0, fail: { status: 500, times: 0 }, lose: 0, received: 0 }

/** The addresses of docs/dev.md, by which a browser makes sign-ups slow, sick or lost. */
export function createDev(members) {
  let now = { ...NORMAL }

  const switches = {
    slow: (ms) => (now.slow = ms),
    fail: (status, times) => (now.fail = { status, times: times || 1 }),
    lose: (times) => (now.lose = times || 1),
    reset: () => (now = { ...NORMAL }),
    counts: () => {},
  }

  return {
    handles: (path) => SWITCH.test(path),

    handle(path, response) {
      const [, name, first = "0", second = "0"] = SWITCH.exec(path)
      switches[name](Number(first), Number(second))
      response.writeHead(200, { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" })
      response.end(page(now, members.count))
    },

    /** Runs `act`, which carries a request out and gives a function that answers it. */
    async around(request, response, act) {
      if (!request.url.startsWith("/api/signups")) return (await act())()
      now.received += 1
      const { slow, fail } = now
      if (slow) await sleep(slow)
      if (fail.times > 0) {
        fail.times -= 1
        response.writeHead(fail.status, { "Content-Type": "text/html" })
        return response.end(`<h1>${fail.status}</h1>\n`)
      }
      const send = await act()
      if (now.lose > 0) {
        now.lose -= 1
        return response.destroy()
      }
      send()
    },
  }
}

/** What a server does that nobody may switch. */
export const noDev = {
  handles: () => false,
  handle: () => {},
  around: async (request, response, act) => (await act())(),
}

function page(now, members) {
  return `<!doctype html><html lang="en"><title>dev</title><link rel="icon" href="data:,">
<p>Received: <b id="received">${now.received}</b></p>
<p>Members: <b id="members">${members}</b></p>
<p>Slow: <b id="slow">${now.slow}</b> ms, to fail: <b id="fail">${now.fail.times}</b>, to lose: <b id="lose">${now.lose}</b></p>
`
}
