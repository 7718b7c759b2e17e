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
}

export function build(dir: string, overrides?: Partial<Config>): Promise<Report>
export function loadSite(dir: string, overrides?: Partial<Config>): Promise<Site>
export function markdown(text: string): string
export function fill(text: string, scope: Record<string, unknown>): string
