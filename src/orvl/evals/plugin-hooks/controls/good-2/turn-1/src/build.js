import { join, posix } from 'node:path'
import { feed } from './feed.js'
import { writeInto } from './files.js'
import { prepare } from './load.js'
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
  const prepared = await prepare(dir, overrides)
  const { site, config, ask, warnings } = prepared
  const files = await render(dir, prepared)
  const out = join(dir, config.output)
  for (const path in files) writeInto(out, path, files[path])
  const report = { pages: site.pages.length, written: Object.keys(files), warnings }
  await ask('done', null, () => [report])
  return report
}

/** All files of the site, by path. */
async function render(dir, { site, config, ask, warnings }) {
  const theme = readTheme(dir, config.theme)
  const files = {}
  for (const page of site.pages) {
    page.html = markdown(page.body)
    if (!page.body.trim()) warnings.push(`${page.file ?? page.url}: the page is empty`)
    await ask('page:html', page.file, () => [page.html, page], (html) => { page.html = html })
    let layout = theme.page
    await ask('page:layout', page.file, () => [layout, page], (answer) => { layout = answer })
    const title = fill(config.pageTitle, { page, site })
    files[page.path] = fill(layout, { page, site, title })
  }
  if (!site.page('/')) files['index.html'] = fill(theme.list, { site, pages: site.pages, title: site.title })
  files['style.css'] = theme.style
  files['pages.json'] = JSON.stringify({ title: site.title, pages: site.pages }, null, 2) + '\n'
  files['sitemap.txt'] = site.pages.map((page) => `${site.baseUrl}${page.url}\n`).join('')
  if (site.baseUrl) files['feed.xml'] = feed(site, config)
  await ask('files', null, () => [site], (answer) => addFiles(files, answer))
  return files
}

function addFiles(files, more) {
  for (const [name, text] of Object.entries(more)) {
    const path = posix.normalize(name)
    if (typeof text !== 'string') throw new TypeError(`${name} is no text`)
    if (path.startsWith('../') || posix.isAbsolute(path)) throw new Error(`${name} leaves the output folder`)
    if (path in files) throw new Error(`${name} is written by somebody else`)
    files[path] = text
  }
}
