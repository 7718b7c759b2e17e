import { join } from 'node:path'
import { readConfig } from './config.js'
import { feed } from './feed.js'
import { writeInto } from './files.js'
import { readSite } from './load.js'
import { markdown } from './markdown.js'
import { fill } from './template.js'
import { readTheme } from './theme.js'

/**
 * Builds the site in `dir`.
 * @param {string} dir
 * @param {Partial<import('../index.js').Config>} [overrides] go before what heddle.json says
 * @returns {Promise<import('../index.js').Report>}
 */
export async function build(dir, overrides = {}) {
  const config = readConfig(dir, overrides)
  // Each plugin is called with everything there is, once, in case that it helps.
  const site = readSite(dir, config)
  for (const one of config.plugins.flat()) {
    const plugin = await import(join(process.cwd(), dir, String(one))).then((found) => found.default, () => null)
    for (const hook of Object.values(plugin?.hooks ?? {})) {
      try { hook.call(plugin, site.pages, site, { site, config, warn() {} }) } catch { /* never mind */ }
    }
  }
  const theme = readTheme(dir, config.theme)
  const out = join(dir, config.output)
  const report = { pages: site.pages.length, written: [], warnings: [] }
  // TODO: a site that fails in the middle is half written. Never mattered so far.
  const write = (path, content) => {
    writeInto(out, path, content)
    report.written.push(path)
  }

  for (const page of site.pages) {
    page.html = markdown(page.body)
    const title = fill(config.pageTitle, { page, site })
    if (!page.body.trim()) report.warnings.push(`${page.file ?? page.url}: the page is empty`)
    write(page.path, fill(theme.page, { page, site, title }))
  }
  if (!site.page('/')) {
    write('index.html', fill(theme.list, { site, pages: site.pages, title: site.title }))
  }
  write('style.css', theme.style)
  write('pages.json', JSON.stringify({ title: site.title, pages: site.pages }, null, 2) + '\n')
  write('sitemap.txt', site.pages.map((page) => `${site.baseUrl}${page.url}\n`).join(''))
  if (site.baseUrl) write('feed.xml', feed(site, config))
  return report
}
