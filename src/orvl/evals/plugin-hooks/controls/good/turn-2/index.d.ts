// Types of heddle, by hand. Keep them next to what the code does.

export interface Config {
  title: string
  source: string
  output: string
  theme: string
  baseUrl: string
  drafts: boolean
  sort: 'date' | 'title' | 'url'
  pageTitle: string
  pagesInFeed: number
  plugins: PluginEntry[]
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
  /** Null in `config`. Its pages are there from `pages` on. */
  site: Site | null
  config: Config
  warn(text: string): void
}

/** See docs/plugins.md. */
export interface Hooks {
  config?: Hook<(config: Config, context: Context) => Answer<Partial<Config>>>
  'page:source'?: Hook<(text: string, file: string, context: Context) => Answer<string | false>>
  'page:parsed'?: Hook<(page: Page, context: Context) => Answer<Partial<Page> | false>>
  'page:url'?: Hook<(page: Page, context: Context) => Answer<string>>
  pages?: Hook<(pages: Page[], context: Context) => Answer<(Page | Partial<Page>)[]>>
  'page:html'?: Hook<(html: string, page: Page, context: Context) => Answer<string>>
  'page:layout'?: Hook<(layout: string, page: Page, context: Context) => Answer<string>>
  files?: Hook<(site: Site, context: Context) => Answer<Record<string, string>>>
  done?: Hook<(report: Report, context: Context) => Answer<void>>
}

export interface Plugin extends Place {
  name: string
  hooks: Hooks
  [more: string]: unknown
}

export interface Report {
  /** How many pages were written. */
  pages: number
  /** All files, from the output folder, in the order of writing. */
  written: string[]
  warnings: string[]
}

export class Page {
  constructor(fields: Partial<Page>)
  static parse(text: string, file: string): Page
  file: string | null
  url: string
  title: string
  date: string
  tags: string[]
  draft: boolean
  meta: Record<string, unknown>
  body: string
  html: string
  previousPage: Page | null
  nextPage: Page | null
  readonly path: string
  toJSON(): Pick<Page, 'url' | 'title' | 'date' | 'tags' | 'meta'>
}

export class Site {
  constructor(config: Config)
  title: string
  baseUrl: string
  pages: Page[]
  addPage(fields: Page | Partial<Page>): Page
  page(url: string): Page | null
  pagesTagged(tag: string): Page[]
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
