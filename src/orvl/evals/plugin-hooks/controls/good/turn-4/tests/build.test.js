import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { build, loadSite } from 'heddle'
import { makeSite } from './site.js'

const TWO = {
  'heddle.json': '{"title": "Two", "baseUrl": "https://two.example/"}',
  'content/old.md': '---\ntitle: Old & good\ndate: 2030-01-01\ntags: a, b\nserves: 4\n---\nHello *you*\n',
  'content/deep/new.md': '---\ndate: 2031-01-01\ntags: [b]\n---\n# New\n',
}

test('entries, list, json, sitemap and feed', async (t) => {
  const site = makeSite(t, TWO)
  const report = await build(site.dir)
  assert.equal(report.entries, 2)
  assert.deepEqual(report.written, [
    'deep/new/index.html', 'old/index.html', 'index.html', 'style.css', 'entries.json', 'sitemap.txt', 'feed.xml',
  ])
  assert.match(site.read('public/old/index.html'), /<p>Hello <em>you<\/em><\/p>/)
  assert.match(site.read('public/old/index.html'), /<title>Old &amp; good – Two<\/title>/)
  assert.match(site.read('public/index.html'), /<a href="\/deep\/new\/">New<\/a> <time>2031-01-01<\/time>/)
  assert.deepEqual(JSON.parse(site.read('public/entries.json')).entries[1], {
    url: '/old/', title: 'Old & good', date: '2030-01-01', tags: ['a', 'b'], meta: { serves: 4 },
  })
  assert.equal(site.read('public/sitemap.txt'), 'https://two.example/deep/new/\nhttps://two.example/old/\n')
  assert.match(site.read('public/feed.xml'), /<title>New<\/title>/)
})

test('neighbours', async (t) => {
  const { dir } = makeSite(t, TWO)
  const site = await loadSite(dir)
  assert.equal(site.entry('/old/').previousEntry.title, 'New')
  assert.equal(site.entry('/old/').nextEntry, null)
  assert.deepEqual(site.tags(), ['a', 'b'])
  assert.equal(site.entriesTagged('b').length, 2)
})

test('a start of its own', async (t) => {
  const site = makeSite(t, { 'content/index.md': '# Start\n' })
  const report = await build(site.dir, { output: 'out' })
  assert.equal(report.written.filter((path) => path === 'index.html').length, 1)
  assert.ok(!existsSync(join(site.dir, 'public')))
})

test('drafts', async (t) => {
  const site = makeSite(t, { 'content/a.md': '---\ndraft: true\n---\nA\n', 'content/b.md': 'B\n' })
  assert.equal((await build(site.dir)).entries, 1)
  assert.equal((await build(site.dir, { drafts: true })).entries, 2)
})

test('two with one address', async (t) => {
  const site = makeSite(t, { 'content/a.md': 'A\n', 'content/b.md': '---\nurl: /a/\n---\nB\n' })
  await assert.rejects(build(site.dir), /\/a\/ is the address of both content\/a\.md and content\/b\.md/)
})

test('a theme of its own, partly', async (t) => {
  const site = makeSite(t, {
    'heddle.json': '{"theme": "theme"}',
    'content/a.md': '---\nserves: 4\n---\nA\n',
    'theme/entry.html': '<i>[[entry.meta.serves]]</i>[[=entry.html]][[entry.nextEntry.url]]',
  })
  await build(site.dir)
  assert.equal(site.read('public/a/index.html'), '<i>4</i><p>A</p>')
  assert.match(site.read('public/style.css'), /max-width/)
})

test('an empty entry is a warning', async (t) => {
  const site = makeSite(t, { 'content/a.md': '---\ntitle: A\n---\n' })
  assert.deepEqual((await build(site.dir)).warnings, ['content/a.md: the entry is empty'])
})
