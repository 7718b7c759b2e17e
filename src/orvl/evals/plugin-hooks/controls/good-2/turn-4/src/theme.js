import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PLAIN = fileURLToPath(new URL('../themes/plain/', import.meta.url))

/** The three files of a theme. What the site's own theme lacks comes from the plain one. */
export function readTheme(dir, theme) {
  const own = theme ? join(dir, theme) : null
  const read = (name, former = name) => {
    for (const path of own ? [join(own, name), join(own, former)] : []) {
      if (existsSync(path)) return readFileSync(path, 'utf8')
    }
    return readFileSync(join(PLAIN, name), 'utf8')
  }
  return { entry: read('entry.html', 'page.html'), list: read('list.html'), style: read('style.css') }
}
