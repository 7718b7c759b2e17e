import { join, posix } from 'node:path'
import { bilingual } from './before.js'
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
  const report = { entries: site.entries.length, written: Object.keys(files), warnings }
  await ask('done', null, () => [bilingual(report)])
  return report
}

/** All files of the site, by path. */
async function render(dir, { site, config, ask, warnings }) {
  const theme = readTheme(dir, config.theme)
  const files = {}
  for (const entry of site.entries) {
    entry.html = markdown(entry.body)
    if (!entry.body.trim()) warnings.push(`${entry.file ?? entry.url}: the entry is empty`)
    const heads = new Set()
    await ask('entry:{{hook}}', entry.file, () => [{ html: entry.html, entry, page: entry }], ({ html, head }) => {
      entry.html = html ?? entry.html
      if (head) heads.add(head)
    })
    let layout = theme.entry
    await ask('entry:layout', entry.file, () => [layout, entry], (answer) => { layout = answer })
    const title = fill(config.entryTitle, { entry, site })
    files[entry.path] = fill(layout, { entry, site, title, head: [...heads].join('\n') })
  }
  if (!site.entry('/')) files['index.html'] = fill(theme.list, { site, entries: site.entries, title: site.title })
  files['style.css'] = theme.style
  files['entries.json'] = JSON.stringify({ title: site.title, entries: site.entries }, null, 2) + '\n'
  files['sitemap.txt'] = site.entries.map((entry) => `${site.baseUrl}${entry.url}\n`).join('')
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
