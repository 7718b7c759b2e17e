import { HeddleError } from './errors.js'
import { Entry } from './entry.js'

/** All entries, in their order, and what belongs to them together. */
export class Site {
  /** @param {import('../index.js').Config} config */
  constructor(config) {
    this.title = config.title
    this.baseUrl = config.baseUrl.replace(/\/+$/, '')
    /** @type {Entry[]} */
    this.entries = []
  }

  /** @param {Entry | Partial<Entry>} fields */
  addEntry(fields) {
    const entry = fields instanceof Entry ? fields : new Entry(fields)
    this.entries.push(entry)
    return entry
  }

  /** The entry with this address, or null. */
  entry(url) {
    return this.entries.find((entry) => entry.url === url) ?? null
  }

  /** @param {string} tag */
  entriesTagged(tag) {
    return this.entries.filter((entry) => entry.tags.includes(tag))
  }

  // What all this was called in heddle 1.
  get pages() { return this.entries }
  set pages(entries) { this.entries = entries }
  addPage(fields) { return this.addEntry(fields) }
  page(url) { return this.entry(url) }
  pagesTagged(tag) { return this.entriesTagged(tag) }

  /** All tags, in order. */
  tags() {
    return [...new Set(this.entries.flatMap((entry) => entry.tags))].sort()
  }

  /** No two entries may have one address. */
  checkUrls() {
    const seen = new Map()
    for (const entry of this.entries) {
      const other = seen.get(entry.url)
      if (other) {
        throw new HeddleError(`${entry.url} is the address of both ${nameOf(other)} and ${nameOf(entry)}`, {
          file: entry.file ?? undefined,
        })
      }
      seen.set(entry.url, entry)
    }
  }

  /** @param {'date' | 'title' | 'url'} by `date`: the newest first, then by address */
  sortEntries(by) {
    const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
    this.entries.sort((a, b) => (by === 'date' ? compare(b.date, a.date) : compare(a[by], b[by])) || compare(a.url, b.url))
  }

  linkEntries() {
    this.entries.forEach((entry, index) => {
      entry.previousEntry = this.entries[index - 1] ?? null
      entry.nextEntry = this.entries[index + 1] ?? null
    })
  }
}

function nameOf(entry) {
  return entry.file ?? `'${entry.title}'`
}
