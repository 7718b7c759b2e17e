import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from './config.js'
import { HeddleError } from './errors.js'
import { markdownFiles } from './files.js'
import { Page } from './page.js'
import { Plugins } from './plugins/plugins.js'
import { Site } from './site.js'

/**
 * Reads a site: all its pages, in order, not yet rendered.
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
  const plugins = await Plugins.load(dir, written.plugins, warnings)
  plugins.around.config = written
  const fixed = { ...overrides, plugins: written.plugins }
  const config = await plugins.pass('config', written, {
    take: (before, answer) => (plugins.around.config = { ...before, ...answer, ...fixed }),
  })
  const site = new Site(config)
  plugins.around.site = site
  await readPages(dir, site, config, plugins)
  return { site, config, plugins }
}

async function readPages(dir, site, config, plugins) {
  const source = join(dir, config.source)
  if (!existsSync(source)) {
    throw new HeddleError(`there is no folder ${config.source}`)
  }
  const found = []
  for (const name of markdownFiles(source)) {
    const page = await readPage(join(source, name), `${config.source}/${name}`, plugins)
    if (page && (config.drafts || !page.draft)) found.push(page)
  }
  site.pages = found
  site.checkUrls()
  site.sortPages(config.sort)
  site.linkPages()
  await plugins.pass('pages', site.pages, { take: (_, answer) => (site.pages = answer.map(toPage)) })
  site.checkUrls()
  site.linkPages()
}

async function readPage(path, file, plugins) {
  const text = await plugins.pass('page:source', readFileSync(path, 'utf8'), { rest: [file], file })
  if (text === false) return null
  const lay = (page, answer) => Object.assign(page, answer)
  const page = await plugins.pass('page:parsed', Page.parse(text, file), { file, take: lay })
  return page && plugins.pass('page:url', page, { file, take: (one, url) => Object.assign(one, { url }) })
}

function toPage(one) {
  return one instanceof Page ? one : new Page(one)
}
