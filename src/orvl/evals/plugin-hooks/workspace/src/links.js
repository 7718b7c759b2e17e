import { markdown } from './markdown.js'

const HREF = /<(?:a|img)\s[^>]*?(?:href|src)="([^"]+)"/g

/**
 * Links inside of the site that lead nowhere.
 * @param {import('./site.js').Site} site
 * @returns {{ page: import('./page.js').Page, link: string }[]}
 */
export function brokenLinks(site) {
  const known = new Set(site.pages.map((page) => page.url))
  const broken = []
  for (const page of site.pages) {
    for (const [, link] of markdown(page.body).matchAll(HREF)) {
      if (!link.startsWith('/') || link.startsWith('//')) continue
      const target = link.replace(/[?#].*$/, '')
      // files such as /style.css or /img/logo.png are not ours to know
      if (/\.\w+$/.test(target)) continue
      if (!known.has(target.endsWith('/') ? target : `${target}/`)) broken.push({ page, link })
    }
  }
  return broken
}
