/*
 * What was written for heddle 1, when an entry was a page: its words in those of today.
 */

const WORDS = {
  page: 'entry',
  pages: 'entries',
  previousPage: 'previousEntry',
  nextPage: 'nextEntry',
  pageTitle: 'entryTitle',
  pagesInFeed: 'entriesInFeed',
}

/** A word of today. */
export const today = (word) => WORDS[word] ?? word

/** The name of a hook today. */
export const hookToday = (hook) => hook.split(':').map(today).join(':')

/** Keys of a configuration, the later ones before the earlier ones. */
export function keysToday(config) {
  const result = {}
  for (const key in config) result[today(key)] = config[key]
  return result
}

/** A template with the placeholders of today. */
export function templateToday(text) {
  return text.replace(/\[\[([#/=]?)\s*([\w.]+)\s*\]\]/g, (_, mark, path) => `[[${mark}${path.split('.').map(today).join('.')}]]`)
}

/** The same object, which answers to both. */
export function bilingual(object) {
  return new Proxy(object, {
    get: (target, key, receiver) => Reflect.get(target, typeof key === 'string' ? today(key) : key, receiver),
    set: (target, key, value) => Reflect.set(target, typeof key === 'string' ? today(key) : key, value),
  })
}
