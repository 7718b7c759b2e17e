import { escapeHtml, slug } from './escape.js';

/*
 * Markdown, as far as we need it: headings, paragraphs, lists, quotes, code, rules, and inside of lines emphasis,
 * code, links and images. Not CommonMark and never will be.
 */

/**
 * @param {string} text
 * @returns {string} HTML
 */
export function markdown(text) {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const out = [];
  const ids = new Map();
  let i = 0;
  while (i < lines.length) {
    const line = lines[i];
    let match;
    if (!line.trim()) {
      i++;
    } else if ((match = /^```\s*([\w-]*)\s*$/.exec(line))) {
      const code = [];
      i++;
      while (i < lines.length && !/^```\s*$/.test(lines[i])) code.push(lines[i++]);
      i++;
      const language = match[1] ? ` class="language-${match[1]}"` : '';
      out.push(`<pre><code${language}>${escapeHtml(code.join('\n'))}</code></pre>`);
    } else if ((match = /^(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line))) {
      const level = match[1].length;
      out.push(`<h${level} id="${uniqueId(match[2], ids)}">${inline(match[2])}</h${level}>`);
      i++;
    } else if (/^(?:-{3,}|\*{3,})\s*$/.test(line)) {
      out.push('<hr>');
      i++;
    } else if (/^>/.test(line)) {
      const quoted = [];
      while (i < lines.length && /^>/.test(lines[i])) quoted.push(lines[i++].replace(/^> ?/, ''));
      out.push(`<blockquote>\n${markdown(quoted.join('\n'))}\n</blockquote>`);
    } else if (/^[-*] /.test(line) || /^\d+\. /.test(line)) {
      const ordered = /^\d/.test(line);
      const mark = ordered ? /^\d+\. / : /^[-*] /;
      const items = [];
      while (i < lines.length && (mark.test(lines[i]) || /^ {2,}\S/.test(lines[i]))) {
        if (mark.test(lines[i])) items.push(lines[i].replace(mark, ''));
        else items[items.length - 1] += ` ${lines[i].trim()}`;
        i++;
      }
      const tag = ordered ? 'ol' : 'ul';
      out.push(`<${tag}>\n${items.map((item) => `<li>${inline(item)}</li>`).join('\n')}\n</${tag}>`);
    } else if (/^<[a-z/!]/i.test(line)) {
      const raw = [];
      while (i < lines.length && lines[i].trim()) raw.push(lines[i++]);
      out.push(raw.join('\n'));
    } else {
      const words = [];
      while (i < lines.length && lines[i].trim() && !/^(#{1,6}\s|```|>|[-*] |\d+\. )/.test(lines[i])) {
        words.push(lines[i++].trim());
      }
      if (!words.length) words.push(lines[i++]);
      out.push(`<p>${inline(words.join('\n'))}</p>`);
    }
  }
  return out.join('\n');
}

function uniqueId(heading, ids) {
  const id = slug(heading) || 'section';
  const seen = ids.get(id) ?? 0;
  ids.set(id, seen + 1);
  return seen ? `${id}-${seen + 1}` : id;
}

function inline(text) {
  const kept = [];
  const keep = (html) => `\u0000${kept.push(html) - 1}\u0000`;
  let html = text.replace(/`([^`]+)`/g, (_, code) => keep(`<code>${escapeHtml(code)}</code>`));
  html = escapeHtml(html);
  html = html.replace(/!\[([^\]]*)\]\(([^)\s]+)\)/g, (_, alt, src) => keep(`<img src="${src}" alt="${alt}">`));
  html = html.replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, label, href) => `${keep(`<a href="${href}">`)}${label}</a>`);
  html = html.replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
  html = html.replace(/(^|[^\w*])\*(?! )([^*]+)\*(?![\w*])/g, '$1<em>$2</em>');
  return html.replace(/\u0000(\d+)\u0000/g, (_, index) => kept[index]);
}
