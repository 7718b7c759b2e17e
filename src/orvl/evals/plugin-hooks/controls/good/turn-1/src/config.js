import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HeddleError, USAGE } from './errors.js'

export const FILE = 'heddle.json'

const DEFAULTS = {
  title: 'Untitled',
  source: 'content',
  output: 'public',
  theme: '',
  baseUrl: '',
  drafts: false,
  sort: 'date',
  pageTitle: '[[page.title]] – [[site.title]]',
  pagesInFeed: 10,
  plugins: [],
}

const SORTS = ['date', 'title', 'url']

/**
 * The configuration of the site in `dir`: the defaults, heddle.json over them, and `overrides` over that.
 * @param {string} dir
 * @param {Partial<import('../index.js').Config>} [overrides]
 */
export function readConfig(dir, overrides = {}) {
  const path = join(dir, FILE)
  let written = {}
  if (existsSync(path)) {
    try {
      written = JSON.parse(readFileSync(path, 'utf8'))
    } catch (error) {
      throw new HeddleError(`${FILE}: ${error.message}`, { status: USAGE, file: FILE })
    }
  }
  return checkConfig({ ...DEFAULTS, ...written, ...overrides })
}

export function checkConfig(config) {
  for (const [key, value] of Object.entries(config)) {
    if (!(key in DEFAULTS)) {
      throw new HeddleError(`${FILE}: unknown key '${key}'`, { status: USAGE, file: FILE })
    }
    const wanted = kindOf(DEFAULTS[key])
    if (kindOf(value) !== wanted) {
      throw new HeddleError(`${FILE}: '${key}' must be a ${wanted}`, { status: USAGE, file: FILE })
    }
  }
  if (!SORTS.includes(config.sort)) {
    throw new HeddleError(`${FILE}: 'sort' is one of ${SORTS.join(', ')}`, { status: USAGE, file: FILE })
  }
  return config
}

function kindOf(value) {
  return Array.isArray(value) ? 'list' : typeof value
}
