import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** All Markdown files below a folder, in order, with `/` between names. */
export function markdownFiles(dir, prefix = '') {
  const found = []
  for (const one of readdirSync(dir, { withFileTypes: true })) {
    if (one.name.startsWith('.')) continue
    if (one.isDirectory()) found.push(...markdownFiles(join(dir, one.name), `${prefix}${one.name}/`))
    else if (one.name.endsWith('.md')) found.push(`${prefix}${one.name}`)
  }
  return found.sort()
}

export function writeInto(dir, path, content) {
  const target = join(dir, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, content)
}
