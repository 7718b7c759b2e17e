import { isAbsolute, normalize } from 'node:path/posix'

const isText = (answer) => typeof answer === 'string'
const isObject = (answer) => typeof answer === 'object' && !Array.isArray(answer)
const isMarkup = (answer) => isText(answer) || (isObject(answer) && ['html', 'head'].every((key) => isText(answer[key] ?? '')))
const isFile = ([path, text]) => isText(text) && !isAbsolute(path) && !normalize(path).startsWith('..')

/**
 * What plugins may hook into: which answers are `good`, and what they must be, for people. Only where a hook `drops`,
 * `false` is an answer, too; after the `first` one nobody else is asked.
 * @typedef {{ good: (answer: any) => boolean, wanted: string, drops?: boolean, first?: boolean, now?: string,
 *   deprecated?: boolean, given?: (value: any) => unknown[] }} HookKind
 * @type {Record<string, HookKind>}
 */
const NEW = {
  config: { good: isObject, wanted: 'an object' },
  'entry:source': { good: isText, wanted: 'a text or false', drops: true },
  'entry:parsed': { good: isObject, wanted: 'an object or false', drops: true },
  'entry:url': { good: isText, wanted: 'an address', first: true },
  entries: { good: (answer) => Array.isArray(answer) && answer.every((one) => one && isObject(one)), wanted: 'a list of entries' },
  'entry:{{hook}}': { good: isMarkup, wanted: 'a text or { html, head }' },
  'entry:layout': { good: isText, wanted: 'a text' },
  files: {
    good: (answer) => isObject(answer) && Object.entries(answer).every(isFile),
    wanted: 'an object from paths inside of the output folder to texts',
  },
  done: { good: () => true, wanted: '' },
}

/** What they were called when entries were pages. */
const RENAMED = {
  'page:source': 'entry:source',
  'page:parsed': 'entry:parsed',
  'page:url': 'entry:url',
  pages: 'entries',
  'page:{{hook}}': 'entry:{{hook}}',
  'page:layout': 'entry:layout',
}

/** All names. An old one is `now` another, in whose turn it comes; it may still be `given` what it always was. */
export const HOOKS = {
  ...NEW,
  ...Object.fromEntries(Object.entries(RENAMED).map(([old, now]) => [old, { ...NEW[now], now }])),
  'page:html': {
    good: isText,
    wanted: 'a text',
    now: 'entry:{{hook}}',
    deprecated: true,
    given: ({ html, entry }) => [html, entry],
  },
}
