import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { hookToday } from './before.js'
import { HeddleError } from './errors.js'
import { queue } from './queue.js'

const STATUS = Number('{{status}}')
const OLD = 'page:html'
const NEW = 'entry:{{hook}}'

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
  'entry:source': orFalse(string),
  'entry:parsed': orFalse(object),
  'entry:url': string,
  entries: list,
  'entry:{{hook}}': (answer) => {
    const { html, head } = typeof answer === 'string' ? { html: answer } : object(answer)
    for (const part of [html, head]) if (part !== undefined && part !== null) string(part)
    return { html, head }
  },
  'entry:layout': string,
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
      if (typeof plugin === 'function') plugin = await plugin(options ?? {})
      if (typeof plugin?.name !== 'string') throw new Error('a plugin must have a name')
    } catch (error) {
      throw new PluginError(id, undefined, undefined, error)
    }
    if (loaded.has(plugin.name)) throw new PluginError(plugin.name, undefined, undefined, 'the name is taken')
    loaded.set(plugin.name, modern(plugin, context.config, warnings))
  }
  const routes = Object.fromEntries(Object.keys(CHECKS).map((hook) => [hook, route([...loaded.values()], hook)]))

  /**
   * Asks one plugin after the other. `args()` gives what they get, `onAnswer` takes each answer and may return true:
   * then nobody else is asked.
   */
  return async function ask(hook, file, args, onAnswer = () => {}) {
    for (const { plugin, run, spoken } of routes[hook]) {
      const warn = (text) => { warnings.push(`${plugin.name}: ${text}`) }
      try {
        const answer = await run.apply(plugin, [...args(), { ...context, warn }])
        if (answer === undefined || answer === null) continue
        if (onAnswer(CHECKS[hook](answer))) return
      } catch (error) {
        const failure = new PluginError(plugin.name, spoken ?? hook, file, error)
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
}

/** Those who have a hook, in their order. */
function route(plugins, hook) {
  const members = plugins.filter(({ hooks }) => hooks.has(hook)).map(({ plugin, hooks }) => {
    const { name, before, after, priority } = plugin
    return { before, after, priority, ...hooks.get(hook), name, plugin }
  })
  const { order, stuck } = queue(members)
  if (stuck.length) throw new PluginError(stuck.join(', '), hook, undefined, 'they form a circle')
  return order.map((at) => members[at])
}

/** A plugin's hooks as objects, by the names that heddle uses; those of page:html take part in what replaced it. */
function modern(plugin, { strict }, warnings) {
  validate(plugin)
  const hooks = new Map()
  for (const [name, own] of Object.entries(plugin.hooks)) {
    const hook = typeof own === 'function' ? { run: own } : { ...own }
    if (typeof hook.run !== 'function') throw new PluginError(plugin.name, name, undefined, 'a hook is a function')
    const known = hookToday(name)
    if (known in CHECKS) {
      if (known === name || !(known in plugin.hooks)) hooks.set(known, { ...hook, spoken: name })
    } else if (name !== OLD) warnings.push(`${plugin.name}: ${name} is no hook`)
    else if (!(NEW in plugin.hooks || NEW.replace('entry', 'page') in plugin.hooks)) hooks.set(NEW, translated(hook))
  }
  if (hooks.get(NEW)?.spoken === OLD) {
    const sentence = `${OLD} is deprecated, ${NEW} takes its place`
    if (strict) throw new PluginError(plugin.name, OLD, undefined, sentence)
    warnings.push(`${plugin.name}: ${sentence}`)
  }
  return { plugin, hooks }
}

function translated(hook) {
  return {
    ...hook,
    spoken: OLD,
    async run({ html, entry }, context) {
      const answer = await hook.run.call(this, html, entry, context)
      return answer === undefined || answer === null ? answer : string(answer)
    },
  }
}
