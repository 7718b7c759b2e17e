import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { HeddleError } from './errors.js'

const STATUS = Number('{{status}}')

/** The ways in which hooks go through all plugins: what is done with an answer that is neither null nor undefined. */
const string = (answer) => {
  if (typeof answer !== 'string') throw new TypeError(`returned ${describe(answer)} instead of a string`)
  return answer
}
const object = (answer) => {
  if (describe(answer) !== 'an object') throw new TypeError(`returned ${describe(answer)} instead of an object`)
  return answer
}
const list = (answer) => {
  if (!Array.isArray(answer)) throw new TypeError(`returned ${describe(answer)} instead of a list`)
  return answer.map(object)
}
const orFalse = (check) => (answer) => answer === false ? false : check(answer)

const CHECKS = {
  config: object,
  'page:source': orFalse(string),
  'page:parsed': orFalse(object),
  'page:url': string,
  pages: list,
  'page:html': string,
  'page:layout': string,
  files: object,
  done: () => undefined,
}

function describe(value) {
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

export class PluginError extends HeddleError {
  constructor(plugin, hook, file, cause) {
    const reason = cause instanceof Error ? cause.message : `${cause}`
    const place = [hook, file].filter((one) => one).map((one) => `, ${one}`).join('')
    super(`plugin ${plugin}${place}: ${reason}`, { status: STATUS, file: file || undefined, cause })
    this.plugin = plugin
    this.hook = hook
    this.reason = reason
  }
}

/** Loads what the configuration names, and returns a function that asks: ask(hook, file, args, onAnswer). */
export async function openPlugins(dir, wanted, context, warnings) {
  const loaded = new Map()
  for (const item of wanted) {
    const [what, options] = Array.isArray(item) ? item : [item, undefined]
    const id = typeof what === 'string' ? what : 'given to build()'
    let plugin
    try {
      plugin = typeof what === 'string' ? (await import(pathToFileURL(path.resolve(dir, what)).href)).default : what
      if (typeof plugin === 'function') plugin = plugin(options ?? {})
      if (typeof plugin?.name !== 'string') throw new Error('a plugin must have a name')
    } catch (error) {
      throw new PluginError(id, undefined, undefined, error)
    }
    if (loaded.has(plugin.name)) throw new PluginError(plugin.name, undefined, undefined, 'the name is taken')
    validate(plugin)
    loaded.set(plugin.name, plugin)
  }
  const plugins = [...loaded.values()]

  /**
   * Asks one plugin after the other. `args()` gives what they get, `onAnswer` takes each answer and may return true:
   * then nobody else is asked.
   */
  return async function ask(hook, file, args, onAnswer = () => {}) {
    for (const plugin of plugins) {
      if (!plugin.hooks[hook]) continue
      const warn = (text) => { warnings.push(`${plugin.name}: ${text}`) }
      try {
        const answer = await plugin.hooks[hook].apply(plugin, [...args(), { ...context, warn }])
        if (answer === undefined || answer === null) continue
        if (onAnswer(CHECKS[hook](answer))) return
      } catch (error) {
        const failure = new PluginError(plugin.name, hook, file, error)
        if (hook !== 'done') throw failure
        warnings.push(failure.message)
      }
    }
  }
}

function validate(plugin) {
  if (describe(plugin.hooks) !== 'an object' || !plugin.hooks) {
    throw new PluginError(plugin.name, undefined, undefined, 'a plugin must have hooks')
  }
  for (const hook of Object.keys(plugin.hooks)) {
    if (!CHECKS.hasOwnProperty(hook)) throw new PluginError(plugin.name, hook, undefined, 'no such hook')
  }
}
