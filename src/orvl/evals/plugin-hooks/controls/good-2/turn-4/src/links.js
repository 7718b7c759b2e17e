import { markdown } from './markdown.js'

const HREF = /<(?:a|img)\s[^>]*?(?:href|src)="([^"]+)"/g

/**
 * Links inside of the site that lead nowhere.
 * @param {import('./site.js').Site} site
 * @returns {{ entry: import('./entry.js').Entry, link: string }[]}
 */
export function brokenLinks(site) {
  const known = new Set(site.entries.map((entry) => entry.url))
  const broken = []
  for (const entry of site.entries) {
    for (const [, link] of markdown(entry.body).matchAll(HREF)) {
      if (!link.startsWith('/') || link.startsWith('//')) continue
      const target = link.replace(/[?#].*$/, '')
      // files such as /style.css or /img/logo.png are not ours to know
      if (/\.\w+$/.test(target)) continue
      if (!known.has(target.endsWith('/') ? target : `${target}/`)) broken.push({ entry, link })
    }
  }
  return broken
}
