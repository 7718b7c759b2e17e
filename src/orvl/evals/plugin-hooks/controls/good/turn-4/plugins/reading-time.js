/** Minutes that it takes to read an entry, as `minutes` among its other fields. */
export default function readingTime({ perMinute = 200 }) {
  return {
    name: 'reading-time',
    hooks: {
      'entry:parsed'(entry) {
        const words = entry.body.split(/\s+/).filter(Boolean).length
        entry.meta.minutes = Math.max(1, Math.round(words / perMinute))
      },
      'entry:{{hook}}'({ html, entry }) {
        return `<p class="minutes">${entry.meta.minutes} min</p>\n${html}`
      },
    },
  }
}
