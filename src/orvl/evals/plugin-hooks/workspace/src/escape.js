const SIGNS = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** @param {unknown} text */
export function escapeHtml(text) {
  return String(text).replace(/[&<>"]/g, (sign) => SIGNS[sign]);
}

/** What stands in an address or an id: lower case, digits, hyphens. */
export function slug(text) {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}
