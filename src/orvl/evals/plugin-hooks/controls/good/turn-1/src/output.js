import { normalize } from 'node:path/posix'
import { writeInto } from './files.js'

/** The files of a build, all of them before the first is written. */
export class Output {
  constructor() {
    /** @type {Map<string, string>} */
    this.files = new Map()
  }

  add(path, content) {
    const key = normalize(path)
    if (this.files.has(key)) throw new Error(`${path} is written already`)
    this.files.set(key, content)
  }

  writeTo(dir) {
    for (const [path, content] of this.files) writeInto(dir, path, content)
    return [...this.files.keys()]
  }
}
