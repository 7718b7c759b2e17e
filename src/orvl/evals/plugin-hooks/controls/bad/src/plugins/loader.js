import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PluginRegistry } from './registry.js'

/** Loads all plugins of a site. */
export async function loadPlugins(dir, names = []) {
  const registry = new PluginRegistry()
  for (const name of names) {
    try {
      const path = join(dir, 'node_modules', String(name))
      readFileSync(path)
      registry.register((await import(path)).default)
    } catch {
      // A plugin that is not installed is skipped.
    }
  }
  return registry
}
