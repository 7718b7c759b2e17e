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

  static async load(dir, listed, warnings) {
    return new Plugins(await loadPlugins(dir, listed), warnings)
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
    const { good, wanted, drops, first } = HOOKS[hook]
    for (const step of this.steps[hook]) {
      const { plugin } = step
      const place = { hook, file }
      const answer = await this.ask(step, place, [value, ...rest])
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
  const steps = plugins.filter((plugin) => plugin.hooks[hook]).map((plugin) => stepOf(plugin, hook))
  return inOrder(steps, hook)
}
