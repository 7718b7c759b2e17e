import { HeddleError } from './errors.js'
import { splitFrontMatter } from './front-matter.js'

const OWN = ['title', 'date', 'tags', 'draft', 'url']
const DAY = /^\d{4}-\d{2}-\d{2}$/

/** One page of the site. */
export class Page {
  /** @param {Partial<Page>} fields */
  constructor(fields) {
    /** Where it was read, from the site's folder; null for a page that was made. */
    this.file = null
    this.url = ''
    this.title = ''
    this.date = ''
    /** @type {string[]} */
    this.tags = []
    this.draft = false
    /** Whatever else stands at the top of the file. */
    this.meta = {}
    /** Markdown. */
    this.body = ''
    /** What was made of the body. */
    this.html = ''
    /** @type {Page | null} the one before it in the order of the site */
    this.previousPage = null
    /** @type {Page | null} */
    this.nextPage = null
    Object.assign(this, fields)
  }

  /**
   * @param {string} text
   * @param {string} file from the site's folder, such as content/about.md
   */
  static parse(text, file) {
    const { fields, body } = splitFrontMatter(text, file)
    const meta = Object.fromEntries(Object.entries(fields).filter(([key]) => !OWN.includes(key)))
    const date = fields.date === undefined ? '' : String(fields.date)
    if (date && !DAY.test(date)) {
      throw new HeddleError(`${file}: '${date}' is no date such as 2031-04-30`, { file })
    }
    const tags = Array.isArray(fields.tags) ? fields.tags.map(String) : tagsIn(fields.tags)
    return new Page({
      file,
      url: fields.url === undefined ? urlOf(file) : String(fields.url),
      title: fields.title === undefined ? titleOf(body, file) : String(fields.title),
      date,
      tags,
      draft: fields.draft === true,
      meta,
      body,
    })
  }

  /** The file that it is written to. */
  get path() {
    return `${this.url.slice(1)}index.html`
  }

  /** What stands in pages.json. */
  toJSON() {
    const { url, title, date, tags, meta } = this
    return { url, title, date, tags, meta }
  }
}

function tagsIn(text) {
  if (text === undefined || text === '') return []
  return String(text).split(',').map((tag) => tag.trim()).filter(Boolean)
}

/** content/recipes/soup.md is /recipes/soup/, and an index.md stands for its folder. */
function urlOf(file) {
  const parts = file.replace(/\.md$/, '').split('/').slice(1)
  if (parts.at(-1) === 'index') parts.pop()
  return parts.length ? `/${parts.join('/')}/` : '/'
}

function titleOf(body, file) {
  const heading = /^#\s+(.+?)\s*#*\s*$/m.exec(body)
  return heading ? heading[1] : file.split('/').at(-1).replace(/\.md$/, '')
}
