import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from './config.js'
import { Entry } from './entry.js'
import { HeddleError } from './errors.js'
import { markdownFiles } from './files.js'
import { readable, renamed } from './old-names.js'
import { Plugins } from './plugins/plugins.js'
import { Site } from './site.js'

/**
 * Reads a site: all its entries, in order, not yet rendered.
 * @param {string} dir
 * @param {Partial<import('../index.js').Config>} [overrides]
 */
export async function loadSite(dir, overrides = {}) {
  const { site } = await openSite(dir, overrides, [])
  return site
}

/** The site with its configuration and its plugins, which have been asked all that comes before rendering. */
export async function openSite(dir, overrides, warnings) {
  const written = readConfig(dir, overrides)
  const plugins = await Plugins.load(dir, written, warnings)
  plugins.around.config = written
  const fixed = { ...renamed(overrides), plugins: written.plugins }
  const config = await plugins.pass('config', written, {
    take: (before, answer) => (plugins.around.config = readable({ ...before, ...renamed(answer), ...fixed })),
  })
  const site = new Site(config)
  plugins.around.site = site
  await readEntries(dir, site, config, plugins)
  return { site, config, plugins }
}

async function readEntries(dir, site, config, plugins) {
  const source = join(dir, config.source)
  if (!existsSync(source)) {
    throw new HeddleError(`there is no folder ${config.source}`)
  }
  const found = []
  for (const name of markdownFiles(source)) {
    const entry = await readEntry(join(source, name), `${config.source}/${name}`, plugins)
    if (entry && (config.drafts || !entry.draft)) found.push(entry)
  }
  site.entries = found
  site.checkUrls()
  site.sortEntries(config.sort)
  site.linkEntries()
  await plugins.pass('entries', site.entries, { take: (_, answer) => (site.entries = answer.map(toEntry)) })
  site.checkUrls()
  site.linkEntries()
}

async function readEntry(path, file, plugins) {
  const text = await plugins.pass('entry:source', readFileSync(path, 'utf8'), { rest: [file], file })
  if (text === false) return null
  const lay = (entry, answer) => Object.assign(entry, answer)
  const entry = await plugins.pass('entry:parsed', Entry.parse(text, file), { file, take: lay })
  return entry && plugins.pass('entry:url', entry, { file, take: (one, url) => Object.assign(one, { url }) })
}

function toEntry(one) {
  return one instanceof Entry ? one : new Entry(one)
}
