import assert from 'node:assert/strict'
import test from 'node:test'
import { HeddleError, Entry } from 'heddle'

test('fields', () => {
  const entry = Entry.parse('---\ntitle: "A: b"\n# no\nn: 3\nyes: true\nlist: [a, "b"]\n---\nText\n', 'content/x/index.md')
  assert.deepEqual({ ...entry }, {
    file: 'content/x/index.md', url: '/x/', title: 'A: b', date: '', tags: [], draft: false,
    meta: { n: 3, yes: true, list: ['a', 'b'] }, body: 'Text\n', html: '', previousEntry: null, nextEntry: null,
  })
})

test('what is no field', () => {
  assert.throws(() => Entry.parse('---\nhm\n---\n', 'content/a.md'), (error) => {
    assert.ok(error instanceof HeddleError)
    assert.equal(error.message, "content/a.md:2: expected 'key: value'")
    return true
  })
  assert.throws(() => Entry.parse('---\ndate: soon\n---\n', 'content/a.md'), /no date/)
})
