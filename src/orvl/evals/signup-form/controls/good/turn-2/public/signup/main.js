import { h, mount } from "/twig/twig.js"
import { Page } from "/ui/page.js"
import { links, text } from "/messages.js"
import { JOINED, WRONG, loadPolicy, signUp } from "./api.js"
import { NOTHING, changed, checkedWholly, firstWrong, refused } from "./entry.js"
import { SignupForm } from "./form.js"
import { Welcome } from "./welcome.js"

const START = { entry: NOTHING, policy: { least: 0 }, isBusy: false, trouble: "", member: null }

const app = mount(document.getElementById("app"), view, START)
app.set({ policy: await loadPolicy() })

function view({ entry, policy, isBusy, trouble, member }) {
  return h(Page, { house: text("house"), links },
    member === null
      ? h(SignupForm, { ...entry, policy, isBusy, trouble, actions: { change, submit } })
      : h(Welcome, { member }))
}

function change(name, value) {
  app.set(({ entry, policy }) => ({ entry: changed(entry, name, value, policy) }))
}

async function submit() {
  const { policy, isBusy } = app.state
  if (isBusy) return
  const entry = checkedWholly(app.state.entry, policy)
  app.set({ entry, trouble: "" })
  if (firstWrong(entry)) return goToFirstWrong()
  app.set({ isBusy: true })
  show(await signUp(entry.values))
}

/** What has become of it. */
function show({ outcome, member, errors }) {
  app.set({ isBusy: false })
  if (outcome === JOINED) {
    app.set({ member })
    app.after((root) => root.querySelector("h1").focus())
  } else if (outcome === WRONG) {
    app.set(({ entry }) => ({ entry: refused(entry, errors) }))
    goToFirstWrong()
  } else {
    app.set({ trouble: outcome })
  }
}

function goToFirstWrong() {
  app.after((root) => root.querySelector(`#${firstWrong(app.state.entry)}`).focus())
}
