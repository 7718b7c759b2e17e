'use strict';

const test = require('node:test');
const assert = require('node:assert/strict');
const { parseAddress, isSameMailbox } = require('../src/address');

test('an address has a local part and a domain', () => {
  const found = parseAddress('Ada.Byron@Larch.Example');
  assert.deepEqual(found, { name: null, local: 'Ada.Byron', domain: 'larch.example', address: 'Ada.Byron@larch.example' });
});

test('a name may stand in front', () => {
  assert.equal(parseAddress('Ada Byron <ada@larch.example>').name, 'Ada Byron');
  assert.equal(parseAddress('"Byron, Ada" <ada@larch.example>').name, 'Byron, Ada');
  assert.equal(parseAddress('<ada@larch.example>').name, null);
});

test('what is no address is refused', () => {
  for (const text of ['', 'ada', 'ada@', '@larch.example', 'a b@larch.example', 'ada@larch', 'ada@-larch.example', 'ada..b@larch.example', 7, null]) {
    assert.throws(() => parseAddress(text), { name: 'Refused', status: 400 }, String(text));
  }
});

test('nobody smuggles in a header', () => {
  assert.throws(() => parseAddress('Ada\r\nBcc: all <ada@larch.example>'), /one line/);
});

test('addresses have a longest length', () => {
  assert.equal(parseAddress(`${'a'.repeat(64)}@larch.example`).local.length, 64);
  assert.throws(() => parseAddress(`${'a'.repeat(65)}@larch.example`), /too long/);
});

test('notes behind a plus and case are the same mailbox', () => {
  assert.ok(isSameMailbox('ada+news@larch.example', 'Ada <ADA@LARCH.example>'));
  assert.ok(!isSameMailbox('ada@larch.example', 'adam@larch.example'));
});
