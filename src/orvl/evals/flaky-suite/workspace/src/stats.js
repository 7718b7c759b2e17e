'use strict';

const { dayOf } = require('./zone');

/** How many mails were sent on each day, as people there count days; the newest day first. */
function sentByDay(mails, zone, most = 7) {
  const days = new Map();
  for (const mail of mails) {
    if (mail.state !== 'sent') continue;
    const day = dayOf(mail.sent, zone);
    days.set(day, (days.get(day) ?? 0) + 1);
  }
  return [...days]
    .sort(([one], [other]) => (one < other ? 1 : -1))
    .slice(0, most)
    .map(([day, count]) => ({ day, count }));
}

/** The mean number of tries of what was sent; null if nothing was. */
function meanTries(mails) {
  const sent = mails.filter((mail) => mail.state === 'sent');
  return sent.length ? sent.reduce((sum, mail) => sum + mail.attempts, 0) / sent.length : null;
}

module.exports = { sentByDay, meanTries };
