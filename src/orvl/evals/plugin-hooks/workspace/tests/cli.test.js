import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeSite } from './site.js'

const BIN = fileURLToPath(new URL('../bin/heddle.js', import.meta.url))

function heddle(dir, ...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...words], { cwd: dir, encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('build says what it did', (t) => {
  const { dir } = makeSite(t, { 'content/a.md': 'A\n' })
  assert.deepEqual(heddle(dir, 'build'), { status: 0, stdout: '1 page, 5 files written\n', stderr: '' })
  assert.deepEqual(heddle(dir, 'build', '--quiet').stdout, '')
  assert.equal(JSON.parse(heddle(dir, 'build', '--json').stdout).pages, 1)
})

test('pages and check', (t) => {
  const { dir } = makeSite(t, { 'content/a.md': '[b](/b/) [a](/a/) [x](//x/y)\n' })
  assert.equal(heddle(dir, 'pages').stdout, '/a/\ta\n')
  const checked = heddle(dir, 'check')
  assert.equal(checked.status, 1)
  assert.equal(checked.stdout, 'content/a.md: /b/\n')
  assert.deepEqual(JSON.parse(heddle(dir, 'check', '--json').stdout), [{ page: '/a/', link: '/b/' }])
})

test('new', (t) => {
  const site = makeSite(t, { 'content/a.md': 'A\n' })
  assert.equal(heddle(site.dir, 'new', 'Été à la mer').stdout, 'content/ete-a-la-mer.md\n')
  assert.match(site.read('content/ete-a-la-mer.md'), /title: Été à la mer/)
  assert.equal(heddle(site.dir, 'new', 'Été à la mer').status, 1)
})

test('mistakes', (t) => {
  const { dir } = makeSite(t, { 'heddle.json': '{"titel": "x"}', 'content/a.md': 'A\n' })
  assert.deepEqual(heddle(dir, 'build'), { status: 2, stdout: '', stderr: "heddle: heddle.json: unknown key 'titel'\n" })
  assert.equal(heddle(dir, 'bild').status, 2)
  assert.equal(heddle(dir, 'build', '--nope').status, 2)
  assert.equal(heddle(dir, '--help').status, 0)
})
