'use strict';

const http = require('node:http');
const { newId } = require('./ids');

const MOST_ANSWER = 64 * 1024;

/** The relay, which delivers mails: docs/relay.md. */
class Relay {
  constructor({ url, timeout }) {
    this.url = new URL('/messages', url);
    this.timeout = timeout;
    this.agent = new http.Agent({ keepAlive: false });
  }

  /**
   * Hands a mail over. `{ outcome: 'sent' }`, `{ outcome: 'later', after }` with the milliseconds that the relay wants us to
   * wait, if it says so, or `{ outcome: 'never', reason }`. Does not throw.
   */
  async send({ from, to, subject, text }) {
    // The relay wants another id with every request, else it answers 409.
    const message = { id: newId('x'), from, to, subject, text };
    try {
      return outcomeOf(await this.#post(JSON.stringify(message)));
    } catch (error) {
      return { outcome: 'later', reason: error.message };
    }
  }

  #post(body) {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const request = http.request(this.url, { method: 'POST', headers, agent: this.agent, timeout: this.timeout });
      request.on('timeout', () => request.destroy(new Error('the relay did not answer in time')));
      request.on('error', reject);
      request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
          if (text.length > MOST_ANSWER) request.destroy(new Error('the relay talks too much'));
        });
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
      });
      request.end(body);
    });
  }
}

function outcomeOf({ status, headers, text }) {
  if (status >= 200 && status < 300) return { outcome: 'sent' };
  if (status === 429 || status >= 500) {
    const seconds = Number(headers['retry-after']);
    return { outcome: 'later', reason: `status ${status}`, ...(seconds > 0 ? { after: seconds * 1000 } : {}) };
  }
  return { outcome: 'never', reason: reasonIn(text) ?? `status ${status}` };
}

function reasonIn(text) {
  try {
    return JSON.parse(text).error ?? null;
  } catch {
    return null;
  }
}

module.exports = { Relay };
