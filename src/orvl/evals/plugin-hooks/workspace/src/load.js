import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from './config.js'
import { HeddleError } from './errors.js'
import { markdownFiles } from './files.js'
import { Page } from './page.js'
import { Site } from './site.js'

/**
 * Reads a site: all its pages, in order, not yet rendered.
 * @param {string} dir
 * @param {Partial<import('../index.js').Config>} [overrides]
 */
export async function loadSite(dir, overrides = {}) {
  return readSite(dir, readConfig(dir, overrides))
}

export function readSite(dir, config) {
  const site = new Site(config)
  const source = join(dir, config.source)
  if (!existsSync(source)) {
    throw new HeddleError(`there is no folder ${config.source}`)
  }
  for (const name of markdownFiles(source)) {
    const file = `${config.source}/${name}`
    const page = Page.parse(readFileSync(join(source, name), 'utf8'), file)
    if (page.draft && !config.drafts) continue
    site.addPage(page)
  }
  site.checkUrls()
  site.sortPages(config.sort)
  site.linkPages()
  return site
}
