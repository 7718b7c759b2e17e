/*
 * Entries were called pages until 2.0. Plugins and sites of that time go on working: here is what they call things.
 */

const CONFIG = { pageTitle: 'entryTitle', pagesInFeed: 'entriesInFeed' }

/**
 * Lets old names stand for new ones. They don't show when an object is written as JSON.
 * @template {object} T
 * @param {T} target
 * @param {Record<string, string>} names
 * @returns {T}
 */
export function alsoCalled(target, names) {
  for (const [old, name] of Object.entries(names)) {
    Object.defineProperty(target, old, {
      configurable: true,
      get() {
        return this[name]
      },
      set(value) {
        this[name] = value
      },
    })
  }
  return target
}

/** A configuration that can be read by old names. */
export function readable(config) {
  return alsoCalled(config, CONFIG)
}

/** What somebody says of the configuration, by whatever names, by the new ones. */
export function renamed(said) {
  return Object.fromEntries(Object.entries(said).map(([key, value]) => [CONFIG[key] ?? key, value]))
}

/** What a template or a hook gets of an entry, together with more. */
export function scopeOf(entry, more) {
  return { entry, page: entry, ...more }
}
