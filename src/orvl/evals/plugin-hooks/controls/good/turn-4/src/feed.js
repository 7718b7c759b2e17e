import { escapeHtml } from './escape.js';

/** An Atom feed of the newest entries; only those with a date are in it. */
export function feed(site, config) {
  const dated = site.entries.filter((entry) => entry.date);
  const newest = dated.sort((a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : 0)).slice(0, config.entriesInFeed);
  const parts = newest.map((entry) => {
    const link = escapeHtml(site.baseUrl + entry.url);
    return [
      '  <entry>',
      `    <title>${escapeHtml(entry.title)}</title>`,
      `    <link href="${link}"/>`,
      `    <id>${link}</id>`,
      `    <updated>${entry.date}T00:00:00Z</updated>`,
      '  </entry>',
    ].join('\n');
  });
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `  <title>${escapeHtml(site.title)}</title>`,
    `  <id>${escapeHtml(site.baseUrl)}/</id>`,
    ...parts,
    '</feed>',
    '',
  ].join('\n');
}
