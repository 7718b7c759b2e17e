import assert from 'node:assert/strict';
import test from 'node:test';
import { markdown } from 'heddle';

const CASES = {
  'a\nb\n\nc': '<p>a\nb</p>\n<p>c</p>',
  '# One\n# One': '<h1 id="one">One</h1>\n<h1 id="one-2">One</h1>',
  '## Größe ##': '<h2 id="gro-e">Größe</h2>',
  '- a\n- b\n  c': '<ul>\n<li>a</li>\n<li>b c</li>\n</ul>',
  '1. a\n2. b': '<ol>\n<li>a</li>\n<li>b</li>\n</ol>',
  '> q\n> r': '<blockquote>\n<p>q\nr</p>\n</blockquote>',
  '```js\na < b\n```': '<pre><code class="language-js">a &lt; b</code></pre>',
  '---': '<hr>',
  '**a** *b* `c<`': '<p><strong>a</strong> <em>b</em> <code>c&lt;</code></p>',
  '[a](/b/) ![c](d.png)': '<p><a href="/b/">a</a> <img src="d.png" alt="c"></p>',
  '<div>\nx\n</div>': '<div>\nx\n</div>',
  '2 * 3 * 4': '<p>2 * 3 * 4</p>',
};

for (const [text, html] of Object.entries(CASES)) {
  test(JSON.stringify(text), () => assert.equal(markdown(text), html));
}
