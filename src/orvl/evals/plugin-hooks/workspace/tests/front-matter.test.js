import assert from 'node:assert/strict'
import test from 'node:test'
import { HeddleError, Page } from 'heddle'

test('fields', () => {
  const page = Page.parse('---\ntitle: "A: b"\n# no\nn: 3\nyes: true\nlist: [a, "b"]\n---\nText\n', 'content/x/index.md')
  assert.deepEqual({ ...page }, {
    file: 'content/x/index.md', url: '/x/', title: 'A: b', date: '', tags: [], draft: false,
    meta: { n: 3, yes: true, list: ['a', 'b'] }, body: 'Text\n', html: '', previousPage: null, nextPage: null,
  })
})

test('what is no field', () => {
  assert.throws(() => Page.parse('---\nhm\n---\n', 'content/a.md'), (error) => {
    assert.ok(error instanceof HeddleError)
    assert.equal(error.message, "content/a.md:2: expected 'key: value'")
    return true
  })
  assert.throws(() => Page.parse('---\ndate: soon\n---\n', 'content/a.md'), /no date/)
})
