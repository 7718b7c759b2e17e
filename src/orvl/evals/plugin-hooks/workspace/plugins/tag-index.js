/** A file with the addresses for each tag. The search box on our own site reads it. */
export default ({ file = 'tags.json' } = {}) => ({
  name: 'tag-index',
  found: {},
  hooks: {
    pages(pages) {
      for (const page of pages) {
        for (const tag of page.tags) (this.found[tag] ??= []).push(page.url)
      }
    },
    files() {
      return { [file]: JSON.stringify(this.found) }
    },
    done(report, { warn }) {
      if (Object.keys(this.found).length === 0) warn(`${report.pages} pages and not one tag`)
    },
  },
})
