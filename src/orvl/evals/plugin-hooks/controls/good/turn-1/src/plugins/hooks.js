import { isAbsolute, normalize } from 'node:path/posix'

const isText = (answer) => typeof answer === 'string'
const isObject = (answer) => typeof answer === 'object' && !Array.isArray(answer)
const isFile = ([path, text]) => isText(text) && !isAbsolute(path) && !normalize(path).startsWith('..')

/**
 * What plugins may hook into: which answers are `good`, and what they must be, for people. Only where a hook `drops`,
 * `false` is an answer, too; after the `first` one nobody else is asked.
 * @type {Record<string, { good: (answer: any) => boolean, wanted: string, drops?: boolean, first?: boolean }>}
 */
export const HOOKS = {
  config: { good: isObject, wanted: 'an object' },
  'page:source': { good: isText, wanted: 'a text or false', drops: true },
  'page:parsed': { good: isObject, wanted: 'an object or false', drops: true },
  'page:url': { good: isText, wanted: 'an address', first: true },
  pages: { good: (answer) => Array.isArray(answer) && answer.every((one) => one && isObject(one)), wanted: 'a list of pages' },
  'page:html': { good: isText, wanted: 'a text' },
  'page:layout': { good: isText, wanted: 'a text' },
  files: {
    good: (answer) => isObject(answer) && Object.entries(answer).every(isFile),
    wanted: 'an object from paths inside of the output folder to texts',
  },
  done: { good: () => true, wanted: '' },
}
