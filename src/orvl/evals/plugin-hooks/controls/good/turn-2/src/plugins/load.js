import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { pluginError } from './failure.js'
import { HOOKS } from './hooks.js'

/**
 * The plugins of a configuration, made anew.
 * @param {string} dir the site's folder
 * @param {import('../../index.js').PluginEntry[]} listed
 * @returns {Promise<import('../../index.js').Plugin[]>}
 */
export async function loadPlugins(dir, listed) {
  const plugins = []
  for (const one of listed) {
    const [source, options = {}] = Array.isArray(one) ? one : [one]
    const label = typeof source === 'string' ? source : 'a plugin without a name'
    const plugin = await made(dir, source, options, label)
    check(plugin, label)
    if (plugins.some((other) => other.name === plugin.name)) {
      throw pluginError(plugin.name, 'there are two plugins of this name')
    }
    plugins.push(plugin)
  }
  return plugins
}

async function made(dir, source, options, label) {
  try {
    const exported = typeof source === 'string' ? (await import(pathToFileURL(resolve(dir, source)))).default : source
    return typeof exported === 'function' ? await exported(options) : exported
  } catch (cause) {
    throw pluginError(label, cause)
  }
}

function check(plugin, label) {
  const name = plugin?.name
  if (!name || typeof name !== 'string') throw pluginError(label, 'a plugin needs a name')
  if (!plugin.hooks || typeof plugin.hooks !== 'object') throw pluginError(name, 'a plugin needs hooks')
  for (const [hook, own] of Object.entries(plugin.hooks)) {
    if (!Object.hasOwn(HOOKS, hook)) throw pluginError(name, 'there is no such hook', { hook })
    if (typeof (own?.run ?? own) !== 'function') throw pluginError(name, 'a hook is a function, or has one as run', { hook })
  }
}
