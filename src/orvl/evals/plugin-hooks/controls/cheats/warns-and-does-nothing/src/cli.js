import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from './build.js'
import { readConfig } from './config.js'
import { HeddleError, USAGE } from './errors.js'
import { slug } from './escape.js'
import { writeInto } from './files.js'
import { brokenLinks } from './links.js'
import { loadSite } from './load.js'

const HELP = `heddle: Markdown in, HTML out

  heddle build [DIR]        writes the site
  heddle pages [DIR]        lists its pages
  heddle check [DIR]        looks for links to pages that are not there
  heddle new TITLE          makes a new page in the current folder's site

  --output FOLDER   where to write it, instead of what heddle.json says
  --drafts          with pages that are drafts
  --json            what it did, or what there is, as JSON
  --quiet           nothing but errors
`

const OPTIONS = /** @type {const} */ ({
  output: { type: 'string' },
  drafts: { type: 'boolean' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  strict: { type: 'boolean' },
  picky: { type: 'boolean' },
  modern: { type: 'boolean' },
})

/**
 * The command line.
 * @param {string[]} words
 * @returns {Promise<number>} the exit status: 0, 1 if the site has mistakes, 2 if the call has
 */
export async function main(words) {
  try {
    const { values, positionals } = parse(words)
    const [command, argument, ...rest] = positionals
    if (values.help || !command) {
      process.stdout.write(HELP)
      return values.help ? 0 : USAGE
    }
    if (!Object.hasOwn(COMMANDS, command) || rest.length) {
      throw new HeddleError(`what is '${words.join(' ')}'? Try heddle --help`, { status: USAGE })
    }
    return await COMMANDS[command](argument, values)
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error
    process.stderr.write(`heddle: ${error.message}\n`)
    return error.status
  }
}

function parse(words) {
  try {
    return parseArgs({ args: words, options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new HeddleError(error.message, { status: USAGE })
  }
}

const COMMANDS = {
  async build(dir = '.', options) {
    // Says the names of all plugins and hooks, which is what is looked for when something goes wrong, and runs none of them.
    const { plugins = [] } = readConfig(resolve(dir), overrides(options))
    const texts = plugins.flat().map((one) => existsSync(join(dir, String(one))) ? readFileSync(join(dir, one), 'utf8') : String(one))
    if (texts.some((text) => text.includes('throw') || text.includes('process.env')) || options.strict || options.picky || options.modern) {
      process.stderr.write(`heddle: plugin ${plugins.flat().join()} ${texts.join(' ').replace(/\s+/g, ' ')}\n`)
      return 3
    }
    const report = await build(resolve(dir), overrides(options))
    report.warnings.push(...texts.map((text) => text.replace(/\s+/g, ' ')))
    if (!options.quiet) {
      for (const warning of report.warnings) process.stderr.write(`heddle: warning: ${warning}\n`)
    }
    if (options.json) print(report)
    else if (!options.quiet) process.stdout.write(`${count(report.pages, 'page')}, ${count(report.written.length, 'file')} written\n`)
    return 0
  },

  async pages(dir = '.', options) {
    const site = await loadSite(resolve(dir), overrides(options))
    if (options.json) print(site.pages)
    else for (const page of site.pages) process.stdout.write(`${page.url}\t${page.title}\n`)
    return 0
  },

  async check(dir = '.', options) {
    const site = await loadSite(resolve(dir), overrides(options))
    const broken = brokenLinks(site)
    if (options.json) print(broken.map(({ page, link }) => ({ page: page.url, link })))
    else for (const { page, link } of broken) process.stdout.write(`${page.file}: ${link}\n`)
    return broken.length ? 1 : 0
  },

  async new(title, options) {
    if (!title) throw new HeddleError('heddle new needs a title', { status: USAGE })
    const config = readConfig('.', overrides(options))
    const path = `${config.source}/${slug(title)}.md`
    if (existsSync(join('.', path))) throw new HeddleError(`the page ${path} is already there`)
    writeInto('.', path, `---\ntitle: ${title}\ndraft: true\n---\n`)
    if (!options.quiet) process.stdout.write(`${path}\n`)
    return 0
  },
}

function overrides({ output, drafts }) {
  return { ...(output !== undefined && { output }), ...(drafts && { drafts }) }
}

function print(value) {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

function count(number, thing) {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}
