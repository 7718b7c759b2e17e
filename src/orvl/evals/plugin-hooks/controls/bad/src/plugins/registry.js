/** Central registry of all plugins, with lifecycle management. */
export class PluginRegistry {
  constructor() {
    this.plugins = new Map()
    this.hooks = new Map()
  }

  register(plugin) {
    if (!plugin) return this
    this.plugins.set(plugin.name ?? `plugin-${this.plugins.size}`, plugin)
    for (const [hook, handler] of Object.entries(plugin.hooks ?? {})) {
      if (!this.hooks.has(hook)) this.hooks.set(hook, [])
      this.hooks.get(hook).push({ plugin, handler, priority: plugin.priority ?? 0 })
    }
    return this
  }

  sorted(hook) {
    return (this.hooks.get(hook) ?? []).slice().sort((a, b) => b.priority - a.priority)
  }

  emit(hook, value, ...rest) {
    let result = value
    for (const { handler } of this.sorted(hook)) {
      try {
        result = handler(result, ...rest) ?? result
      } catch (error) {
        console.error(`heddle: plugin problem: ${error.message}`)
      }
    }
    return result
  }
}
