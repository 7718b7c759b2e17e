import { escapeHtml } from './escape.js';

const LOOP = /\[\[#(\w+)\]\]([\s\S]*?)\[\[\/\1\]\]/g;
const SLOT = /\[\[(=?)\s*([\w.]+)\s*\]\]/g;
/** What a thing is called inside of a loop over its list. */
const ONE_OF = { entries: 'entry', pages: 'page', tags: 'tag' };

/**
 * Fills a template. [[entry.title]] is escaped, [[=entry.html]] is not, [[#entries]]…[[/entries]] is there once for each,
 * and what does not exist is empty.
 * @param {string} text
 * @param {Record<string, unknown>} scope
 */
export function fill(text, scope) {
  const looped = text.replace(LOOP, (_, name, inner) => {
    const list = look(name, scope);
    if (!Array.isArray(list)) return '';
    const one = ONE_OF[name] ?? 'it';
    return list.map((item) => fill(inner, { ...scope, [one]: item })).join('');
  });
  return looped.replace(SLOT, (_, raw, name) => {
    const value = look(name, scope) ?? '';
    return raw ? String(value) : escapeHtml(value);
  });
}

function look(path, scope) {
  return path.split('.').reduce((value, key) => value?.[key], scope);
}
