import { messageOf, pluginError } from './failure.js'
import { HOOKS } from './hooks.js'
import { loadPlugins } from './load.js'
import { inOrder, stepOf } from './order.js'

/** The plugins of one build. */
export class Plugins {
  /**
   * @param {import('../../index.js').Plugin[]} plugins
   * @param {string[]} warnings where those of plugins go
   */
  constructor(plugins, warnings) {
    /** For each hook, who takes part, in order. */
    this.steps = Object.fromEntries(Object.keys(HOOKS).map((hook) => [hook, stepsOf(plugins, hook)]))
    this.warnings = warnings
    /** What every hook gets at last, besides `warn`. */
    this.around = { site: null, config: null }
  }

  /** @param {import('../../index.js').Config} config */
  static async load(dir, config, warnings) {
    const plugins = await loadPlugins(dir, config.plugins)
    for (const plugin of plugins) {
      const unknown = Object.keys(plugin.hooks).filter((hook) => !Object.hasOwn(HOOKS, hook))
      warnings.push(...unknown.map((hook) => `${plugin.name}: there is no hook ${hook}`))
    }
    reportDeprecated(plugins, config.refuseDeprecated, warnings)
    return new Plugins(plugins, warnings)
  }

  /**
   * Asks each plugin in turn. `take` makes the next value of the present one and an answer.
   * @template T
   * @param {string} hook
   * @param {T} value what the hook gets first
   * @param {{ rest?: unknown[], file?: string | null, take?: (value: T, answer: any) => T }} [how]
   * @returns {Promise<T | false>}
   */
  async pass(hook, value, { rest = [], file, take = (_, answer) => answer } = {}) {
    const { drops, first } = HOOKS[hook]
    for (const step of this.steps[hook]) {
      const { plugin } = step
      const { good, wanted, given = (one) => [one, ...rest] } = HOOKS[step.hook]
      const place = { hook: step.hook, file }
      const answer = await this.ask(step, place, given(value))
      if (answer === undefined || answer === null) continue
      if (drops && answer === false) return false
      if (!good(answer)) throw pluginError(plugin.name, `returned ${typeof answer}, and not ${wanted}`, place)
      try {
        value = take(value, answer)
      } catch (problem) {
        throw pluginError(plugin.name, problem, place)
      }
      if (first) break
    }
    return value
  }

  /** Tells each plugin that all is done. It is too late to fail. */
  async done(report) {
    for (const step of this.steps.done) {
      try {
        await this.ask(step, { hook: 'done' }, [report])
      } catch (problem) {
        this.warnings.push(messageOf(problem))
      }
    }
  }

  async ask({ plugin, run }, place, given) {
    const warn = (text) => void this.warnings.push(`${plugin.name}: ${text}`)
    try {
      return await run.call(plugin, ...given, { ...this.around, warn })
    } catch (problem) {
      throw pluginError(plugin.name, problem, place)
    }
  }
}

function stepsOf(plugins, hook) {
  const found = plugins.map((plugin) => [plugin, nameIn(plugin, hook)]).filter(([, name]) => name)
  return inOrder(found.map(([plugin, name]) => stepOf(plugin, name)), hook)
}

/** By which name a plugin takes part in a hook: its own, or the deprecated one of a plugin that does not know it yet. */
function nameIn({ hooks }, hook) {
  if (HOOKS[hook].now) return undefined
  return [hook, ...Object.keys(HOOKS).filter((old) => HOOKS[old].now === hook)].find((name) => hooks[name])
}

function reportDeprecated(plugins, refuse, warnings) {
  const uses = plugins.flatMap((plugin) =>
    Object.entries(HOOKS)
      .filter(([old, { now }]) => now && nameIn(plugin, now) === old)
      .map(([old, { now }]) => ({ name: plugin.name, sentence: `${old} is deprecated, use ${now}` })),
  )
  if (refuse && uses.length) throw pluginError(uses.map(({ name }) => name).join(' and '), uses[0].sentence)
  warnings.push(...uses.map(({ name, sentence }) => `${name}: ${sentence}`))
}
