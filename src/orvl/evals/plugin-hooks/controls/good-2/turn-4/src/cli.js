import { existsSync } from 'node:fs'
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
  heddle entries [DIR]        lists its entries
  heddle check [DIR]        looks for links to entries that are not there
  heddle new TITLE          makes a new entry in the current folder's site

  --output FOLDER   where to write it, instead of what heddle.json says
  --drafts          with entries that are drafts
  --{{flag}}         what is deprecated is an error
  --json            what it did, or what there is, as JSON
  --quiet           nothing but errors
`

const OPTIONS = /** @type {const} */ ({
  output: { type: 'string' },
  drafts: { type: 'boolean' },
  '{{flag}}': { type: 'boolean' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
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
    const report = await build(resolve(dir), overrides(options))
    if (!options.quiet) {
      for (const warning of report.warnings) process.stderr.write(`heddle: warning: ${warning}\n`)
    }
    if (options.json) print(report)
    else if (!options.quiet) process.stdout.write(`${report.entries} ${report.entries === 1 ? 'entry' : 'entries'}, ${count(report.written.length, 'file')} written\n`)
    return 0
  },

  async entries(dir = '.', options) {
    const site = await loadSite(resolve(dir), overrides(options))
    if (options.json) print(site.entries)
    else for (const entry of site.entries) process.stdout.write(`${entry.url}\t${entry.title}\n`)
    return 0
  },

  async check(dir = '.', options) {
    const site = await loadSite(resolve(dir), overrides(options))
    const broken = brokenLinks(site)
    if (options.json) print(broken.map(({ entry, link }) => ({ entry: entry.url, link })))
    else for (const { entry, link } of broken) process.stdout.write(`${entry.file}: ${link}\n`)
    return broken.length ? 1 : 0
  },

  async new(title, options) {
    if (!title) throw new HeddleError('heddle new needs a title', { status: USAGE })
    const config = readConfig('.', overrides(options))
    const path = `${config.source}/${slug(title)}.md`
    if (existsSync(join('.', path))) throw new HeddleError(`the entry ${path} is already there`)
    writeInto('.', path, `---\ntitle: ${title}\ndraft: true\n---\n`)
    if (!options.quiet) process.stdout.write(`${path}\n`)
    return 0
  },
}

function overrides(options) {
  const { output, drafts } = options
  const strict = options['{{flag}}']
  return { ...(output !== undefined && { output }), ...(drafts && { drafts }), ...(strict && { strict }) }
}

function print(value) {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

function count(number, thing) {
  return `${number} ${thing}${number === 1 ? '' : 's'}`
}
