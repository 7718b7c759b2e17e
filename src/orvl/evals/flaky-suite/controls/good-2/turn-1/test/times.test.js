'use strict';

const { describe, it } = require('node:test');
const assert = require('node:assert/strict');
const { wallTime, momentOf, addDays, dayOf, DAY } = require('../src/zone');
const { plan, afterQuiet } = require('../src/planner');
const { Digest } = require('../src/digest');
const { Queue } = require('../src/queue');
const { sentByDay, meanTries } = require('../src/stats');
const { Limiter } = require('../src/limiter');
const { ManualClock, noStore } = require('./support/stand-ins');

describe('zone', () => {
  const BERLIN = 'Europe/Berlin';
  const iso = (at) => new Date(at).toISOString();

  it('clocks differ', () => {
    const at = Date.UTC(2026, 4, 3, 22, 30);
    assert.deepEqual(wallTime(at, BERLIN), { year: 2026, month: 5, day: 4, hour: 0, minute: 30, second: 0, weekday: 1 });
    assert.equal(wallTime(at, 'America/New_York').hour, 18);
    assert.equal(dayOf(at, BERLIN), '2026-05-04');
    assert.equal(dayOf(at, 'UTC'), '2026-05-03');
  });

  it('a moment and back', () => {
    assert.equal(iso(momentOf({ year: 2026, month: 1, day: 15, hour: 8 }, BERLIN)), '2026-01-15T07:00:00.000Z');
    assert.equal(iso(momentOf({ year: 2026, month: 7, day: 15, hour: 8, minute: 5 }, BERLIN)), '2026-07-15T06:05:00.000Z');
  });

  it('an hour that is left out is an hour later', () => {
    assert.equal(wallTime(momentOf({ year: 2026, month: 3, day: 29, hour: 2, minute: 30 }, BERLIN), BERLIN).hour, 3);
  });

  it('tomorrow at this time is a day away', () => {
    const now = Math.floor(Date.now() / 60000) * 60000;
    assert.equal(addDays(now, 1, BERLIN) - now, DAY);
  });

  it('at the end of summer the day is longer', () => {
    const evening = Date.UTC(2026, 9, 24, 16);
    assert.equal(iso(addDays(evening, 1, BERLIN)), '2026-10-25T17:00:00.000Z');
    assert.equal(iso(addDays(evening, 8, BERLIN)), '2026-11-01T17:00:00.000Z');
  });
});

describe('planner', () => {
  const BERLIN = 'Europe/Berlin';
  const QUIET = { from: '21:00', to: '07:00' };
  const HOUR = 60 * 60 * 1000;

  const iso = (at) => new Date(at).toISOString();

  it('without a time it is now', () => {
    assert.equal(plan(undefined, 1234, BERLIN), 1234);
  });

  it('a moment is a moment, and the past is now', () => {
    const now = Date.parse('2026-05-04T10:00Z');
    assert.equal(iso(plan('2026-05-04T14:30+02:00', now, BERLIN)), '2026-05-04T12:30:00.000Z');
    assert.equal(plan('2026-05-03T10:00Z', now, BERLIN), now);
  });

  it('what is due in half an hour is due today', () => {
    const soon = iso(Date.now() + HOUR / 2);
    assert.equal(dayOf(plan(soon, Date.now(), 'UTC'), 'UTC'), dayOf(Date.now(), 'UTC'));
  });

  it('tomorrow at eight', () => {
    const wanted = new Date();
    wanted.setDate(wanted.getDate() + 1);
    wanted.setHours(8, 0, 0, 0);
    assert.equal(iso(plan('tomorrow 08:00', Date.now(), 'UTC')), wanted.toISOString());
  });

  it('next at eight is today or tomorrow', () => {
    const morning = new Date(2026, 4, 4, 5, 0).getTime();
    assert.equal(iso(plan('next 08:00', morning, 'UTC')), '2026-05-04T08:00:00.000Z');
    assert.equal(iso(plan('next 08:00', morning + 4 * HOUR, 'UTC')), '2026-05-05T08:00:00.000Z');
    assert.equal(iso(plan('next 08:00', Date.UTC(2026, 4, 4, 6), BERLIN)), '2026-05-05T06:00:00.000Z');
  });

  it('workdays leave out the weekend', () => {
    const friday = Date.UTC(2026, 4, 8, 9);
    assert.equal(iso(plan('workday 08:00', friday, BERLIN)), '2026-05-11T06:00:00.000Z');
    assert.equal(iso(plan('workday 12:00', friday, BERLIN)), '2026-05-08T10:00:00.000Z');
  });

  it('a day of the month', () => {
    const today = new Date();
    const wanted = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, today.getUTCDate()));
    assert.equal(iso(plan(`monthly ${today.getUTCDate()} 00:00`, Date.now(), 'UTC')), wanted.toISOString());
  });

  it('short months end earlier', () => {
    assert.equal(iso(plan('monthly 31 09:00', Date.UTC(2026, 1, 3), 'UTC')), '2026-02-28T09:00:00.000Z');
    assert.equal(iso(plan('monthly 31 09:00', Date.UTC(2026, 11, 31, 12), 'UTC')), '2027-01-31T09:00:00.000Z');
  });

  it('nobody is woken up', () => {
    const at = (text) => iso(afterQuiet(Date.parse(text), QUIET, BERLIN));
    assert.equal(at('2026-05-04T18:59Z'), '2026-05-04T18:59:00.000Z');
    assert.equal(at('2026-05-04T19:00Z'), '2026-05-05T05:00:00.000Z');
    assert.equal(at('2026-05-04T22:30Z'), '2026-05-05T05:00:00.000Z');
    assert.equal(at('2026-05-04T04:59Z'), '2026-05-04T05:00:00.000Z');
    assert.equal(at('2026-05-04T05:00Z'), '2026-05-04T05:00:00.000Z');
  });

  it('quiet hours may be at noon, or not at all', () => {
    const noon = { from: '12:00', to: '13:00' };
    assert.equal(iso(afterQuiet(Date.UTC(2026, 4, 4, 12, 30), noon, 'UTC')), '2026-05-04T13:00:00.000Z');
    assert.equal(afterQuiet(5, null, 'UTC'), 5);
  });

  it('what nobody understands is refused', () => {
    for (const when of ['soon', 'tomorrow', 'tomorrow 24:00', 'next 8:00', 'monthly 32 08:00', 'monthly x 08:00', 'constructor 08:00', 7]) {
      assert.throws(() => plan(when, 0, BERLIN), { name: 'Refused' }, String(when));
    }
  });
});

describe('digest', () => {
  const EVENING = Date.UTC(2026, 4, 4, 16);
  const DAY = 24 * 60 * 60 * 1000;

  function parts() {
    const clock = new ManualClock(EVENING);
    const digest = new Digest(noStore(), { zone: 'Europe/Berlin', time: '08:00', clock });
    return { clock, digest, queue: new Queue(noStore(), clock) };
  }

  it('lines wait for the next morning', async () => {
    const { clock, digest, queue } = parts();
    const due = await digest.add('ada@larch.example', 'the first');
    assert.ok(due > clock.now() && due <= clock.now() + DAY);
    await digest.close(queue);
    assert.equal(queue.list().length, 0);
  });

  it('a person gets one mail with all lines', async () => {
    const { clock, digest, queue } = parts();
    await digest.add('ada@larch.example', 'the first');
    await digest.add('Ada <ADA+news@larch.example>', 'the second');
    await digest.add('bob@larch.example', 'another');
    clock.advance(DAY);
    await digest.close(queue);
    const [ada, bob] = queue.list();
    assert.equal(ada.template, 'digest');
    assert.deepEqual(ada.data, { count: 2, lines: [{ line: 'the first' }, { line: 'the second' }] });
    assert.equal(bob.data.count, 1);
    assert.equal(queue.list().length, 2);
  });

  it('a digest belongs to its day', async () => {
    const { clock, digest, queue } = parts();
    await digest.add('ada@larch.example', 'the first');
    clock.advance(DAY);
    await digest.close(queue);
    assert.equal(queue.list()[0].key, 'digest:ada@larch.example:2026-05-05');
  });

  it('days begin at midnight there', async () => {
    const { clock, digest, queue } = parts();
    clock.advance(DAY / 4 + 1);
    await digest.add('ada@larch.example', 'after midnight in Berlin');
    clock.advance(DAY);
    await digest.close(queue);
    assert.equal(queue.list()[0].key, 'digest:ada@larch.example:2026-05-05');
  });

  it('what comes later is in the next one', async () => {
    const { clock, digest, queue } = parts();
    await digest.add('ada@larch.example', 'the first');
    clock.advance(DAY);
    await digest.close(queue);
    await digest.add('ada@larch.example', 'the second');
    await digest.close(queue);
    assert.equal(queue.list().length, 1);
    clock.advance(DAY);
    await digest.close(queue);
    assert.deepEqual(queue.list().map((mail) => mail.data.lines[0].line), ['the first', 'the second']);
  });
});

describe('stats', () => {
  const at = (text, attempts = 1) => ({ state: 'sent', sent: Date.parse(text), attempts });

  it('days are those of the people there', () => {
    const mails = [at('2026-05-03T21:59Z'), at('2026-05-03T22:00Z'), at('2026-05-04T12:00Z'), { state: 'queued' }];
    assert.deepEqual(sentByDay(mails, 'Europe/Berlin'), [
      { day: '2026-05-04', count: 2 },
      { day: '2026-05-03', count: 1 },
    ]);
  });

  it('today comes first', () => {
    const today = new Date().toISOString().slice(0, 10);
    const mails = [at('2020-01-01T12:00Z'), { state: 'sent', sent: Date.now(), attempts: 1 }];
    assert.equal(sentByDay(mails, 'Europe/Berlin')[0].day, today);
  });

  it('no more than a week is shown', () => {
    const mails = Array.from({ length: 9 }, (_, day) => at(`2026-05-1${day}T12:00Z`));
    assert.equal(sentByDay(mails, 'UTC').length, 7);
  });

  it('tries are counted', () => {
    assert.equal(meanTries([at('2026-05-03T21:59Z', 1), at('2026-05-03T22:00Z', 4), { state: 'failed', attempts: 6 }]), 2.5);
    assert.equal(meanTries([]), null);
  });
});

describe('limiter', () => {
  it('what is too much has to wait', () => {
    const limiter = new Limiter({ count: 2, window: 5000 });
    assert.equal(limiter.wait('larch.example'), 0);
    assert.equal(limiter.wait('larch.example'), 0);
    const wait = limiter.wait('larch.example');
    assert.ok(wait > 0 && wait <= 5000, `${wait}`);
  });

  it('any number is fine, and one more is not', () => {
    for (let count = 1; count <= 10; count += 1) {
      const limiter = new Limiter({ count, window: 1000 }, new ManualClock());
      for (let sent = 0; sent < count; sent += 1) assert.equal(limiter.wait('larch.example'), 0);
      assert.equal(limiter.wait('larch.example'), 1000);
    }
  });

  it('domains do not wait for each other', () => {
    const limiter = new Limiter({ count: 1, window: 1000 }, new ManualClock());
    assert.equal(limiter.wait('larch.example'), 0);
    assert.equal(limiter.wait('poplar.example'), 0);
  });

  it('the window moves on', () => {
    const clock = new ManualClock();
    const limiter = new Limiter({ count: 2, window: 1000 }, clock);
    limiter.wait('larch.example');
    clock.advance(400);
    limiter.wait('larch.example');
    assert.equal(limiter.wait('larch.example'), 600);
    clock.advance(600);
    assert.equal(limiter.wait('larch.example'), 0);
    assert.equal(limiter.wait('larch.example'), 400);
  });

  it('old domains are forgotten', () => {
    const clock = new ManualClock();
    const limiter = new Limiter({ count: 2, window: 1000 }, clock);
    limiter.wait('larch.example');
    clock.advance(500);
    limiter.wait('poplar.example');
    clock.advance(500);
    assert.equal(limiter.tidy(), 1);
  });
});
