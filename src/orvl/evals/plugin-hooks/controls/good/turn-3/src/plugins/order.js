import { pluginError } from './failure.js'

const FIRST = '{{first}}'
const NORMAL = Number('{{middle}}')

/**
 * A plugin's part in a hook.
 * @typedef {object} Step
 * @property {import('../../index.js').Plugin} plugin
 * @property {string} hook as the plugin calls it
 * @property {Function} run
 * @property {string[]} before names of plugins
 * @property {string[]} after
 * @property {number} priority
 */

/**
 * What a plugin does in a hook. What the hook itself says of its place goes before what the plugin says.
 * @returns {Step}
 */
export function stepOf(plugin, hook) {
  const own = plugin.hooks[hook]
  const { run, before = plugin.before, after = plugin.after, priority = plugin.priority } = own.run ? own : { run: own }
  return { plugin, hook, run, before: [before ?? []].flat(), after: [after ?? []].flat(), priority: priority ?? NORMAL }
}

/**
 * The steps of a hook in the order in which they run: before and after hold in any case; of all that may be next it is
 * the one with the {{first}} priority, and then the one that is listed first.
 * @param {Step[]} steps as listed
 * @param {string} hook
 */
export function inOrder(steps, hook) {
  const ordered = []
  let left = [...steps]
  while (left.length) {
    const ready = left.filter((step) => !left.some((other) => comesBefore(other, step)))
    if (!ready.length) throw pluginError(circle(left), 'they wait for each other', { hook })
    const next = ready.reduce((best, step) => (isEarlier(step, best) ? step : best))
    ordered.push(next)
    left = left.filter((step) => step !== next)
  }
  return ordered
}

function comesBefore(one, other) {
  return one.before.includes(other.plugin.name) || other.after.includes(one.plugin.name)
}

function isEarlier(step, best) {
  return FIRST === 'lowest' ? step.priority < best.priority : step.priority > best.priority
}

/** The names of those who wait for each other: from anybody back to who has to come earlier, until one comes again. */
function circle(left) {
  const path = []
  let step = left[0]
  while (!path.includes(step)) {
    path.push(step)
    const waiting = step
    step = left.find((other) => comesBefore(other, waiting))
  }
  return path.slice(path.indexOf(step)).map(({ plugin }) => plugin.name).join(' and ')
}
