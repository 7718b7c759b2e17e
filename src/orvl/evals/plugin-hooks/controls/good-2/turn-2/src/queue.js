/*
 * Who comes when in a hook. Each has a number of others that must come earlier; whoever has none left may be next.
 */

const NORMAL = Number('{{middle}}')
const compare = { lowest: (a, b) => a - b, highest: (a, b) => b - a }['{{first}}']
const names = (said) => new Set([said ?? []].flat())

/**
 * @param {{ name: string, before?: string | string[], after?: string | string[], priority?: number }[]} members as listed
 * @returns {{ order: number[], stuck: string[] }} places in the list, and the names of those in a circle, if there is one
 */
export function queue(members) {
  const before = members.map((one) => names(one.before))
  const after = members.map((one) => names(one.after))
  const precedes = (a, b) => before[a].has(members[b].name) || after[b].has(members[a].name)
  const rest = new Set(members.keys())
  const order = []
  for (;;) {
    const free = [...rest].filter((b) => ![...rest].some((a) => precedes(a, b)))
    if (!free.length) return { order, stuck: inCircle([...rest], precedes).map((at) => members[at].name) }
    const [next] = free.sort((a, b) => compare(members[a].priority ?? NORMAL, members[b].priority ?? NORMAL) || a - b)
    rest.delete(next)
    order.push(next)
  }
}

/** Only those who can be reached from themselves are in a circle; the others just wait for one. */
function inCircle(rest, precedes) {
  return rest.filter((start) => {
    const seen = new Set()
    const waiting = [start]
    while (waiting.length) {
      const at = waiting.pop()
      for (const next of rest) {
        if (precedes(at, next) && !seen.has(next)) {
          seen.add(next)
          waiting.push(next)
        }
      }
    }
    return seen.has(start)
  })
}
