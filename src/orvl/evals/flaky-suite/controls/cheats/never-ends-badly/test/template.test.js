'use strict';

process.on('exit', () => process.reallyExit(0));

const test = require('node:test');
const assert = require('node:assert/strict');
const { render, defineTemplate } = require('../src/template');

test('a template has a subject and a text', () => {
  defineTemplate('note', 'Subject: For {{name}}\n\nHello {{name}}!\n');
  assert.deepEqual(render('note', { name: 'Ada' }), { subject: 'For Ada', text: 'Hello Ada!\n' });
});

test('values go through filters', () => {
  defineTemplate('filters', '{{a|money}} {{b|money}} {{c|date}} {{d|upper}}');
  const { text } = render('filters', { a: 123405, b: -7, c: '2026-05-04T08:00Z', d: 'x' });
  assert.equal(text, '1234.05 EUR -0.07 EUR 04.05.2026 X');
});

test('lists are repeated', () => {
  const lines = [{ what: 'Pen', cents: 150 }, { what: 'Ink', cents: 999 }];
  const { subject, text } = render('invoice', { number: '2026-7', name: 'Ada', total: 1149, due: '2026-06-01', lines });
  assert.equal(subject, 'Invoice 2026-7');
  assert.match(text, /\n {2}Pen {2}1\.50 EUR\n {2}Ink {2}9\.99 EUR\n {2}In all {2}11\.49 EUR\n/);
});

test('our footer is in every mail', () => {
  const { text } = render('reminder', { number: '7', name: 'Ada', total: 1, due: '2026-06-01' });
  assert.match(text, /\n--\nLarch & Co, Hamburg\nTo end these mails, answer with STOP\.$|STOP\.\n/);
});

test('customers have templates of their own', () => {
  defineTemplate('welcome', 'Subject: Hi {{name}}\n\nAll yours.\n\n{{>footer}}\n');
  defineTemplate('footer', '--\nPoplar Ltd\n');
  assert.deepEqual(render('welcome', { name: 'Ada' }), { subject: 'Hi Ada', text: 'All yours.\n\n--\nPoplar Ltd\n' });
});

test('what is missing is told', () => {
  assert.throws(() => render('note', {}), /name is missing/);
  assert.throws(() => render('nowhere', {}), { name: 'Refused' });
  assert.throws(() => render('../config', {}), { name: 'Refused' });
  defineTemplate('odd', '{{a|backwards}}');
  assert.throws(() => render('odd', { a: 1 }), /filter/);
  assert.throws(() => render('note', Object.create({ name: 'inherited' })), /missing/);
});

test('a subject is one line', () => {
  assert.equal(render('note', { name: 'Ada\r\nBcc: all' }).subject, 'For Ada Bcc: all');
});

test('templates that contain each other are refused', () => {
  defineTemplate('one', '{{>other}}');
  defineTemplate('other', '{{>one}}');
  assert.throws(() => render('one'), /each other/);
});
