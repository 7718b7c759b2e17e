/** A file with the addresses for each tag. The search box on our own site reads it. */
export default ({ file = 'tags.json' } = {}) => ({
  name: 'tag-index',
  found: {},
  hooks: {
    entries(entries) {
      for (const entry of entries) {
        for (const tag of entry.tags) (this.found[tag] ??= []).push(entry.url)
      }
    },
    files() {
      return { [file]: JSON.stringify(this.found) }
    },
    done(report, { warn }) {
      if (Object.keys(this.found).length === 0) warn(`${report.entries} entries and not one tag`)
    },
  },
})
