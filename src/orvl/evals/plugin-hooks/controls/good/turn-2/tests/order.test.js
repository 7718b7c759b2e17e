import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import test from 'node:test'
import { build } from 'heddle'
import { makeSite } from './site.js'

const ONE = { 'content/a.md': 'A\n', 'theme/page.html': '[[=page.html]]', 'heddle.json': '{"theme": "theme"}' }
const EARLY = '{{first}}' === 'lowest' ? -1 : 1

function signing(name, place = {}, ofHook = {}) {
  const run = async (html) => {
    await setTimeout(1)
    return `${html}${name}`
  }
  return { name, ...place, hooks: { 'page:html': { run, ...ofHook } } }
}

async function order(t, ...plugins) {
  const site = makeSite(t, ONE)
  await build(site.dir, { plugins })
  return site.read('public/a/index.html').replace('<p>A</p>', '')
}

test('as listed, by priority, by before and after', async (t) => {
  assert.equal(await order(t, signing('a'), signing('b')), 'ab')
  assert.equal(await order(t, signing('a'), signing('b', { priority: Number('{{middle}}') + EARLY })), 'ba')
  assert.equal(await order(t, signing('a', { after: 'c' }), signing('b'), signing('c', { before: ['b', 'x'] })), 'cab')
  assert.equal(await order(t, signing('a', { after: 'b' }, { after: [] }), signing('b')), 'ab')
})

test('circles', async (t) => {
  const circle = [signing('z', { after: 'a' }), signing('a', { after: 'b' }), signing('b', {}, { after: 'a' })]
  await assert.rejects(order(t, ...circle), /plugin a and b/)
})
