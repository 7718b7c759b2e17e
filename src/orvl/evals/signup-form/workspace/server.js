#!/usr/bin/env node
// node server.js [--port 8080] [--data data] [--dev]
import { parseArgs } from "node:util"
import { createApp } from "./server/app.js"

const { values } = parseArgs({
  options: {
    port: { type: "string", default: process.env.PORT ?? "8080" },
    data: { type: "string", default: "data" },
    dev: { type: "boolean", default: false },
  },
})

const app = createApp({ folder: values.data, isDev: values.dev, log: (line) => console.log(line) })
app.listen(Number(values.port), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${values.port}/`)
})
