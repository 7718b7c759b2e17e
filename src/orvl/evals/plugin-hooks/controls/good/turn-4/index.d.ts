// Types of heddle, by hand. Keep them next to what the code does.

export interface Config {
  title: string
  source: string
  output: string
  theme: string
  baseUrl: string
  drafts: boolean
  sort: 'date' | 'title' | 'url'
  entryTitle: string
  entriesInFeed: number
  plugins: PluginEntry[]
  /** What --{{flag}} says. */
  refuseDeprecated: boolean
}

/** A plugin, what makes one, or the path of a file that exports either; with options it is a pair. */
export type PluginSource = string | Plugin | ((options: any) => Plugin | Promise<Plugin>)
export type PluginEntry = PluginSource | [PluginSource, object]

type Nothing = void | null | undefined
type Answer<T> = T | Nothing | Promise<T | Nothing>

/** Where a plugin, or one hook of it, stands among the others. */
export interface Place {
  /** Names of plugins; those that are not there don't matter. */
  before?: string | string[]
  after?: string | string[]
  /** The {{first}} goes first. Normally {{middle}}. */
  priority?: number
}

type Hook<Run> = Run | ({ run: Run } & Place)

/** What every hook gets after its own arguments. */
export interface Context {
  /** Null in `config`. Its entries are there from `entries` on. */
  site: Site | null
  config: Config
  warn(text: string): void
}

export interface Markup {
  html: string
  entry: Entry
}

/** See docs/plugins.md. */
export interface Hooks {
  config?: Hook<(config: Config, context: Context) => Answer<Partial<Config>>>
  'entry:source'?: Hook<(text: string, file: string, context: Context) => Answer<string | false>>
  'entry:parsed'?: Hook<(entry: Entry, context: Context) => Answer<Partial<Entry> | false>>
  'entry:url'?: Hook<(entry: Entry, context: Context) => Answer<string>>
  entries?: Hook<(entries: Entry[], context: Context) => Answer<(Entry | Partial<Entry>)[]>>
  'entry:{{hook}}'?: Hook<(markup: Markup, context: Context) => Answer<string | { html?: string; head?: string }>>
  /** @deprecated use entry:{{hook}} */
  'page:html'?: Hook<(html: string, page: Entry, context: Context) => Answer<string>>
  /** Names of before 2.0, such as page:parsed. */
  [old: string]: unknown
  'entry:layout'?: Hook<(layout: string, entry: Entry, context: Context) => Answer<string>>
  files?: Hook<(site: Site, context: Context) => Answer<Record<string, string>>>
  done?: Hook<(report: Report, context: Context) => Answer<void>>
}

export interface Plugin extends Place {
  name: string
  hooks: Hooks
  [more: string]: unknown
}

export interface Report {
  /** How many entries were written. */
  entries: number
  /** All files, from the output folder, in the order of writing. */
  written: string[]
  warnings: string[]
}

export class Entry {
  constructor(fields: Partial<Entry>)
  static parse(text: string, file: string): Entry
  file: string | null
  url: string
  title: string
  date: string
  tags: string[]
  draft: boolean
  meta: Record<string, unknown>
  body: string
  html: string
  previousEntry: Entry | null
  nextEntry: Entry | null
  readonly path: string
  toJSON(): Pick<Entry, 'url' | 'title' | 'date' | 'tags' | 'meta'>
}

/** Its name until 2.0. */
export { Entry as Page }

export class Site {
  constructor(config: Config)
  title: string
  baseUrl: string
  entries: Entry[]
  addEntry(fields: Entry | Partial<Entry>): Entry
  entry(url: string): Entry | null
  entriesTagged(tag: string): Entry[]
  tags(): string[]
}

export class HeddleError extends Error {
  constructor(message: string, details?: { status?: number; file?: string; cause?: unknown })
  /** How the command line exits. */
  status: number
  file?: string
  /** Whose fault it was, and where, if a plugin failed. */
  plugin?: string
  hook?: string
}

export function build(dir: string, overrides?: Partial<Config>): Promise<Report>
export function loadSite(dir: string, overrides?: Partial<Config>): Promise<Site>
export function markdown(text: string): string
export function fill(text: string, scope: Record<string, unknown>): string
