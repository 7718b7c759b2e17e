import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A site in a folder of its own, which is gone after the test. */
export function makeSite(t, files) {
  const dir = mkdtempSync(join(tmpdir(), 'heddle-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  return { dir, read: (path) => readFileSync(join(dir, path), 'utf8') }
}
