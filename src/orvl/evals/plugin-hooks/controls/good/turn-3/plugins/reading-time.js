/** Minutes that it takes to read a page, as `minutes` among its other fields. */
export default function readingTime({ perMinute = 200 }) {
  return {
    name: 'reading-time',
    hooks: {
      'page:parsed'(page) {
        const words = page.body.split(/\s+/).filter(Boolean).length
        page.meta.minutes = Math.max(1, Math.round(words / perMinute))
      },
      'page:{{hook}}'({ html, page }) {
        return `<p class="minutes">${page.meta.minutes} min</p>\n${html}`
      },
    },
  }
}
