// The search of the docs runs in a worker, which a browser does not start for pages that are read from disk. There, a
// hidden frame takes its place: it loads the same script, and messages go in and out as a worker's do.
(() => {
  if (location.protocol !== "file:") return

  class FrameWorker extends EventTarget {
    constructor(url) {
      super()
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const load = source =>
        new Promise((resolve, reject) => {
          const script = inside.document.createElement("script")
          script.src = source
          script.onload = resolve
          script.onerror = () => reject(new Error(`${source} cannot be loaded`))
          inside.document.body.append(script)
        })
      inside.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve())
      this.loaded = load(new URL(url, location.href).href)
    }

    postMessage(data) {
      const inside = this.frame.contentWindow
      this.loaded.then(() => inside.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      this.frame.remove()
    }
  }

  window.Worker = FrameWorker
})()
