'use strict';

const { Refused } = require('./errors');

const LONGEST_LOCAL = 64;
const LONGEST = 254;
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/;

/** Reads `ada@larch.example` or `Ada Byron <ada@larch.example>`. */
function parseAddress(text) {
  if (typeof text !== 'string') throw new Refused('an address is a text');
  if (/[\r\n]/.test(text)) throw new Refused('an address is one line');
  const match = /^\s*(?:(?<name>[^<>]*?)\s*<(?<inner>[^<>]+)>|(?<bare>[^<>\s]+))\s*$/.exec(text);
  if (!match) throw new Refused(`not an address: ${text}`);
  const { name, inner, bare } = match.groups;
  return { name: unquoted(name), ...parts((inner ?? bare).trim()) };
}

function parts(address) {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  const domain = address.slice(at + 1).toLowerCase();
  if (at < 1 || !LOCAL.test(local) || !DOMAIN.test(domain)) throw new Refused(`not an address: ${address}`);
  if (local.length > LONGEST_LOCAL || address.length > LONGEST) throw new Refused('the address is too long');
  return { local, domain, address: `${local}@${domain}` };
}

function unquoted(name) {
  if (!name) return null;
  const inner = /^"(.*)"$/.exec(name);
  return (inner ? inner[1].replace(/\\(.)/g, '$1') : name) || null;
}

/** Whether two addresses are one mailbox: domains know no case, and what is behind a `+` is a note. */
function isSameMailbox(one, other) {
  return mailbox(one) === mailbox(other);
}

function mailbox(text) {
  const { local, domain } = parseAddress(text);
  return `${local.replace(/\+.*$/, '').toLowerCase()}@${domain}`;
}

module.exports = { parseAddress, isSameMailbox, mailbox };
