import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { build } from 'heddle'
import { makeSite } from './site.js'

const ONE = { 'content/a.md': '# A\n' }
const plugin = (name, hooks) => ({ name, hooks })

test('what one returns the next one gets', async (t) => {
  const site = makeSite(t, ONE)
  const plugins = [
    plugin('one', { 'page:html': (html) => `${html}1`, 'entry:parsed': () => ({ title: 'B' }) }),
    plugin('two', { 'page:html': (html) => `${html}2`, 'entry:source': (text) => `${text}\nmore` }),
    plugin('three', { files: () => ({ 'x.txt': 'x' }) }),
  ]
  const report = await build(site.dir, { plugins })
  assert.match(site.read('public/a/index.html'), /<h1 id="a">A<\/h1>\n<p>more<\/p>12/)
  assert.match(site.read('public/a/index.html'), /<title>B/)
  assert.equal(site.read('public/x.txt'), 'x')
  assert.ok(report.written.includes('x.txt'))
})

test('our own two', async (t) => {
  const { pathname } = new URL('../plugins/', import.meta.url)
  const site = makeSite(t, {
    'heddle.json': JSON.stringify({ plugins: [[`${pathname}reading-time.js`, { perMinute: 1 }], `${pathname}tag-index.js`] }),
    'content/a.md': '---\ntags: x\n---\none two\n',
  })
  await build(site.dir)
  assert.match(site.read('public/a/index.html'), /2 min/)
  assert.deepEqual(JSON.parse(site.read('public/tags.json')), { x: ['/a/'] })
})

test('who fails is named, and nothing is written', async (t) => {
  const site = makeSite(t, ONE)
  for (const answer of [7, true]) {
    const plugins = [plugin('bad', { 'page:html': () => answer })]
    await assert.rejects(build(site.dir, { plugins }), (error) => {
      assert.deepEqual([error.plugin, error.hook, error.file], ['bad', 'page:html', 'content/a.md'])
      return true
    })
  }
  assert.ok(!existsSync(join(site.dir, 'public')))
})

test('what is no plugin', async (t) => {
  const site = makeSite(t, ONE)
  await assert.rejects(build(site.dir, { plugins: [plugin('a', {}), plugin('a', {})] }), /plugin a/)
  await assert.rejects(build(site.dir, { plugins: ['./nowhere.js'] }), /nowhere/)
})

test('what is deprecated works, with one warning', async (t) => {
  const site = makeSite(t, { ...ONE, 'content/b.md': 'B\n' })
  const plugins = [
    plugin('old', { 'page:html': (html) => `${html}1` }),
    plugin('new', { 'entry:{{hook}}': ({ html }) => ({ html: `${html}2`, head: '<i>' }), 'page:html': () => 'no' }),
    plugin('other', { 'entry:{{hook}}': () => ({ head: '<i>' }) }),
  ]
  for (let times = 0; times < 2; times++) {
    const { warnings } = await build(site.dir, { plugins })
    assert.deepEqual(warnings, ['old: page:html is deprecated, use entry:{{hook}}'])
    assert.match(site.read('public/b/index.html'), /<p>B<\/p>12/)
    assert.equal(site.read('public/b/index.html').split('<i>').length, 2)
  }
  await assert.rejects(build(site.dir, { plugins, refuseDeprecated: true }), /plugin old/)
})

test('an unknown hook is a warning', async (t) => {
  const site = makeSite(t, ONE)
  const { warnings } = await build(site.dir, { plugins: [plugin('typo', { 'entry:prased'() {} })] })
  assert.deepEqual(warnings, ['typo: there is no hook entry:prased'])
})
