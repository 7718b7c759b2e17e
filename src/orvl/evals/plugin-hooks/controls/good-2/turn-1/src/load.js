import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from './config.js'
import { HeddleError } from './errors.js'
import { markdownFiles } from './files.js'
import { Page } from './page.js'
import { openPlugins } from './plugins.js'
import { Site } from './site.js'

/**
 * Reads a site: all its pages, in order, not yet rendered.
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
    context.config = { ...context.config, ...answer, ...overrides, plugins }
  })
  context.site = new Site(context.config)
  await readPages(dir, context, ask)
  return { ...context, ask, warnings }
}

async function readPages(dir, { site, config }, ask) {
  const source = join(dir, config.source)
  if (!existsSync(source)) throw new HeddleError(`there is no folder ${config.source}`)
  const pages = []
  for (const name of markdownFiles(source)) {
    const page = await readPage(join(source, name), `${config.source}/${name}`, ask)
    if (page && !(page.draft && !config.drafts)) pages.push(page)
  }
  for (const page of pages) site.addPage(page)
  site.checkUrls()
  site.sortPages(config.sort)
  site.linkPages()
  await ask('pages', null, () => [site.pages], (answer) => {
    site.pages = answer.map((one) => (one instanceof Page ? one : new Page(one)))
  })
  site.checkUrls()
  site.linkPages()
}

async function readPage(path, file, ask) {
  let text = readFileSync(path, 'utf8')
  await ask('page:source', file, () => [text, file], (answer) => (text = answer) === false)
  if (text === false) return null
  const page = Page.parse(text, file)
  let keep = true
  await ask('page:parsed', file, () => [page], (answer) => {
    keep = answer !== false
    Object.assign(page, answer)
    return !keep
  })
  if (!keep) return null
  await ask('page:url', file, () => [page], (answer) => {
    page.url = answer
    return true
  })
  return page
}
