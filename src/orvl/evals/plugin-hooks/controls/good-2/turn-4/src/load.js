import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bilingual, keysToday } from './before.js'
import { readConfig } from './config.js'
import { HeddleError } from './errors.js'
import { markdownFiles } from './files.js'
import { Entry } from './entry.js'
import { openPlugins } from './plugins.js'
import { Site } from './site.js'

/**
 * Reads a site: all its entries, in order, not yet rendered.
 * @param {string} dir
 * @param {Partial<import('../index.js').Config>} [overrides]
 */
export async function loadSite(dir, overrides = {}) {
  return (await prepare(dir, overrides)).site
}

/** Everything that comes before rendering. */
export async function prepare(dir, overrides) {
  const warnings = []
  const context = { site: null, config: readConfig(dir, overrides) }
  const { plugins } = context.config
  const ask = await openPlugins(dir, plugins, context, warnings)
  await ask('config', null, () => [context.config], (answer) => {
    context.config = bilingual({ ...context.config, ...keysToday(answer), ...keysToday(overrides), plugins })
  })
  context.site = new Site(context.config)
  await readEntries(dir, context, ask)
  return { ...context, ask, warnings }
}

async function readEntries(dir, { site, config }, ask) {
  const source = join(dir, config.source)
  if (!existsSync(source)) throw new HeddleError(`there is no folder ${config.source}`)
  const entries = []
  for (const name of markdownFiles(source)) {
    const entry = await readEntry(join(source, name), `${config.source}/${name}`, ask)
    if (entry && !(entry.draft && !config.drafts)) entries.push(entry)
  }
  for (const entry of entries) site.addEntry(entry)
  site.checkUrls()
  site.sortEntries(config.sort)
  site.linkEntries()
  await ask('entries', null, () => [site.entries], (answer) => {
    site.entries = answer.map((one) => (one instanceof Entry ? one : new Entry(one)))
  })
  site.checkUrls()
  site.linkEntries()
}

async function readEntry(path, file, ask) {
  let text = readFileSync(path, 'utf8')
  await ask('entry:source', file, () => [text, file], (answer) => (text = answer) === false)
  if (text === false) return null
  const entry = Entry.parse(text, file)
  let keep = true
  await ask('entry:parsed', file, () => [entry], (answer) => {
    keep = answer !== false
    Object.assign(entry, answer)
    return !keep
  })
  if (!keep) return null
  await ask('entry:url', file, () => [entry], (answer) => {
    entry.url = answer
    return true
  })
  return entry
}
