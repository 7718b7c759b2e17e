import { join } from 'node:path'
import { feed } from './feed.js'
import { openSite } from './load.js'
import { markdown } from './markdown.js'
import { alsoCalled, scopeOf } from './old-names.js'
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
  const report = alsoCalled({ entries: site.entries.length, written, warnings }, { pages: 'entries' })
  await plugins.done(report)
  return report
}

async function makeFiles({ site, config, plugins, theme, warnings }) {
  const output = new Output()
  for (const entry of site.entries) {
    if (!entry.body.trim()) warnings.push(`${entry.file ?? entry.url}: the entry is empty`)
    const { file } = entry
    const { html, head } = await plugins.pass(
      'entry:{{hook}}',
      scopeOf(entry, { html: markdown(entry.body), head: [] }),
      { file, take: addMarkup },
    )
    entry.html = html
    const layout = await plugins.pass('entry:layout', theme.entry, { rest: [entry], file })
    const title = fill(config.entryTitle, scopeOf(entry, { site }))
    output.add(entry.path, fill(layout, scopeOf(entry, { site, title, head: head.join('\n') })))
  }
  if (!site.entry('/')) {
    output.add('index.html', fill(theme.list, { site, entries: site.entries, pages: site.entries, title: site.title }))
  }
  output.add('style.css', theme.style)
  output.add('entries.json', JSON.stringify({ title: site.title, entries: site.entries }, null, 2) + '\n')
  output.add('sitemap.txt', site.entries.map((entry) => `${site.baseUrl}${entry.url}\n`).join(''))
  if (site.baseUrl) output.add('feed.xml', feed(site, config))
  await plugins.pass('files', site, { take: (_, answer) => addAll(output, answer, site) })
  return output
}

/** Each piece of the head is there once. */
function addMarkup(before, answer) {
  const { html, head } = typeof answer === 'string' ? { html: answer } : answer
  const isNew = head && !before.head.includes(head)
  return { ...before, html: html ?? before.html, head: isNew ? [...before.head, head] : before.head }
}

function addAll(output, files, site) {
  for (const [path, text] of Object.entries(files)) output.add(path, text)
  return site
}
