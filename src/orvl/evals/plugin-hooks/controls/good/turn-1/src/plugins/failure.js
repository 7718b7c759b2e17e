import { HeddleError } from '../errors.js'

export const PLUGIN_FAILED = Number('{{status}}')

/**
 * @param {string} plugin
 * @param {unknown} problem what was thrown, or a sentence
 * @param {{ hook?: string, file?: string | null }} [place]
 */
export function pluginError(plugin, problem, { hook, file } = {}) {
  const where = [`plugin ${plugin}`, hook, file].filter(Boolean).join(', ')
  const cause = typeof problem === 'string' ? undefined : problem
  const error = new HeddleError(`${where}: ${messageOf(problem)}`, { status: PLUGIN_FAILED, file: file ?? undefined, cause })
  return Object.assign(error, { plugin, hook })
}

/** @param {unknown} thrown */
export function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
