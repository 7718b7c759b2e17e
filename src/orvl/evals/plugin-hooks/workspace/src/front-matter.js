import { HeddleError } from './errors.js';

const FENCE = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

/**
 * Splits a file into the fields at its top and the Markdown below. Only as much YAML as people write there.
 * @param {string} text
 * @param {string} file for messages
 * @returns {{ fields: Record<string, unknown>, body: string }}
 */
export function splitFrontMatter(text, file) {
  const match = text.startsWith('---') ? FENCE.exec(text) : null;
  if (!match) return { fields: {}, body: text };
  const fields = {};
  const lines = match[1].split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    if (!line.trim() || line.startsWith('#')) continue;
    const colon = line.indexOf(':');
    if (colon < 1) {
      throw new HeddleError(`${file}:${i + 2}: expected 'key: value'`, { file });
    }
    fields[line.slice(0, colon).trim()] = value(line.slice(colon + 1).trim());
  }
  return { fields, body: text.slice(match[0].length) };
}

function value(text) {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (/^-?\d+$/.test(text)) return Number(text);
  if (text.startsWith('[') && text.endsWith(']')) {
    return text.slice(1, -1).split(',').map((part) => unquoted(part.trim())).filter((part) => part !== '');
  }
  return unquoted(text);
}

function unquoted(text) {
  const quoted = /^"(.*)"$|^'(.*)'$/.exec(text);
  return quoted ? quoted[1] ?? quoted[2] : text;
}
