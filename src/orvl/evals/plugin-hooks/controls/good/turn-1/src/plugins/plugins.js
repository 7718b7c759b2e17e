import { messageOf, pluginError } from './failure.js'
import { HOOKS } from './hooks.js'
import { loadPlugins } from './load.js'

/** The plugins of one build. */
export class Plugins {
  /**
   * @param {import('../../index.js').Plugin[]} plugins
   * @param {string[]} warnings where those of plugins go
   */
  constructor(plugins, warnings) {
    this.plugins = plugins
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
    for (const plugin of this.plugins) {
      const place = { hook, file }
      const answer = await this.ask(plugin, place, [value, ...rest])
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
    for (const plugin of this.plugins) {
      try {
        await this.ask(plugin, { hook: 'done' }, [report])
      } catch (problem) {
        this.warnings.push(messageOf(problem))
      }
    }
  }

  async ask(plugin, place, given) {
    const warn = (text) => void this.warnings.push(`${plugin.name}: ${text}`)
    try {
      return await plugin.hooks[place.hook]?.call(plugin, ...given, { ...this.around, warn })
    } catch (problem) {
      throw pluginError(plugin.name, problem, place)
    }
  }
}
