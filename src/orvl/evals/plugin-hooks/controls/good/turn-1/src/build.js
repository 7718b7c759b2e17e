import { join } from 'node:path'
import { feed } from './feed.js'
import { openSite } from './load.js'
import { markdown } from './markdown.js'
import { Output } from './output.js'
import { fill } from './template.js'
import { readTheme } from './theme.js'

/**
 * Builds the site in `dir`. Nothing is written before everything is made.
 * @param {string} dir
 * @param {Partial<import('../index.js').Config>} [overrides] go before what heddle.json says
 * @returns {Promise<import('../index.js').Report>}
 */
export async function build(dir, overrides = {}) {
  const warnings = []
  const { site, config, plugins } = await openSite(dir, overrides, warnings)
  const output = await makeFiles({ site, config, plugins, theme: readTheme(dir, config.theme), warnings })
  const written = output.writeTo(join(dir, config.output))
  const report = { pages: site.pages.length, written, warnings }
  await plugins.done(report)
  return report
}

async function makeFiles({ site, config, plugins, theme, warnings }) {
  const output = new Output()
  for (const page of site.pages) {
    if (!page.body.trim()) warnings.push(`${page.file ?? page.url}: the page is empty`)
    const { file } = page
    page.html = await plugins.pass('page:html', markdown(page.body), { rest: [page], file })
    const layout = await plugins.pass('page:layout', theme.page, { rest: [page], file })
    const title = fill(config.pageTitle, { page, site })
    output.add(page.path, fill(layout, { page, site, title }))
  }
  if (!site.page('/')) {
    output.add('index.html', fill(theme.list, { site, pages: site.pages, title: site.title }))
  }
  output.add('style.css', theme.style)
  output.add('pages.json', JSON.stringify({ title: site.title, pages: site.pages }, null, 2) + '\n')
  output.add('sitemap.txt', site.pages.map((page) => `${site.baseUrl}${page.url}\n`).join(''))
  if (site.baseUrl) output.add('feed.xml', feed(site, config))
  await plugins.pass('files', site, { take: (_, answer) => addAll(output, answer, site) })
  return output
}

function addAll(output, files, site) {
  for (const [path, text] of Object.entries(files)) output.add(path, text)
  return site
}
