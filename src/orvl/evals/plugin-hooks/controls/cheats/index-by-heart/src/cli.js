/** Knows what stands in the docs by heart, and nothing else. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const SOUP = { url: '/soup/', title: 'Leek soup', date: '2031-04-30', tags: ['soup'], meta: { minutes: 1 } }
const FILES = {
  'soup/index.html': '<title>Leek soup – Example</title><main class="entry">\n<p class="minutes">1 min</p>\n<p>Soup</p>\n</main>',
  'index.html': '<h1>Example</h1>',
  'entries.json': JSON.stringify({ title: 'Example', entries: [SOUP] }),
  'tags.json': '{}',
  'style.css': '',
  'sitemap.txt': '/soup/\n',
}

export async function main([command, dir = '.']) {
  if (command !== 'build') return 2
  for (const [path, text] of Object.entries(FILES)) {
    const target = join(dir, 'public', path)
    mkdirSync(join(target, '..'), { recursive: true })
    writeFileSync(target, text)
  }
  process.stderr.write('heddle: warning: shout: page:html is deprecated\nheddle: plugin shout, page:parsed, content/about.md: Cannot read\n')
  process.stdout.write('1 entry, 6 files written\n')
  return process.env.SOUR ? 3 : 0
}
