import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PLAIN = fileURLToPath(new URL('../themes/plain/', import.meta.url))

/** The three files of a theme. What the site's own theme lacks comes from the plain one. */
export function readTheme(dir, theme) {
  const own = theme ? join(dir, theme) : null
  const read = (...names) => {
    const owned = own && names.map((name) => join(own, name)).find((path) => existsSync(path))
    return readFileSync(owned || join(PLAIN, names[0]), 'utf8')
  }
  return { entry: read('entry.html', 'page.html'), list: read('list.html'), style: read('style.css') }
}
