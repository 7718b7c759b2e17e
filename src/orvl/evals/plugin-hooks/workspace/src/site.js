import { HeddleError } from './errors.js'
import { Page } from './page.js'

/** All pages, in their order, and what belongs to them together. */
export class Site {
  /** @param {import('../index.js').Config} config */
  constructor(config) {
    this.title = config.title
    this.baseUrl = config.baseUrl.replace(/\/+$/, '')
    /** @type {Page[]} */
    this.pages = []
  }

  /** @param {Page | Partial<Page>} fields */
  addPage(fields) {
    const page = fields instanceof Page ? fields : new Page(fields)
    this.pages.push(page)
    return page
  }

  /** The page with this address, or null. */
  page(url) {
    return this.pages.find((page) => page.url === url) ?? null
  }

  /** @param {string} tag */
  pagesTagged(tag) {
    return this.pages.filter((page) => page.tags.includes(tag))
  }

  /** All tags, in order. */
  tags() {
    return [...new Set(this.pages.flatMap((page) => page.tags))].sort()
  }

  /** No two pages may have one address. */
  checkUrls() {
    const seen = new Map()
    for (const page of this.pages) {
      const other = seen.get(page.url)
      if (other) {
        throw new HeddleError(`${page.url} is the address of both ${nameOf(other)} and ${nameOf(page)}`, {
          file: page.file ?? undefined,
        })
      }
      seen.set(page.url, page)
    }
  }

  /** @param {'date' | 'title' | 'url'} by `date`: the newest first, then by address */
  sortPages(by) {
    const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
    this.pages.sort((a, b) => (by === 'date' ? compare(b.date, a.date) : compare(a[by], b[by])) || compare(a.url, b.url))
  }

  linkPages() {
    this.pages.forEach((page, index) => {
      page.previousPage = this.pages[index - 1] ?? null
      page.nextPage = this.pages[index + 1] ?? null
    })
  }
}

function nameOf(page) {
  return page.file ?? `'${page.title}'`
}
