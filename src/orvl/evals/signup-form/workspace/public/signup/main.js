import { h, mount } from "/twig/twig.js"
import { Page } from "/ui/page.js"
import { links, text } from "/messages.js"
import { signUp } from "./api.js"
import { SignupForm } from "./form.js"
import { wrongFields } from "./rules.js"
import { Welcome } from "./welcome.js"

const START = { values: {}, attempts: 0, isOpen: false, notice: "", member: null }

const app = mount(document.getElementById("app"), view, START)

function view(state) {
  return h(Page, { house: text("house"), links },
    state.member === null ? h(SignupForm, { state, actions: { change, toggle, submit } }) : h(Welcome, state))
}

function change(name, value) {
  app.set((state) => ({ values: { ...state.values, [name]: value }, isOpen: false }))
}

function toggle() {
  app.set((state) => ({ isOpen: !state.isOpen }))
}

async function submit() {
  const { values, attempts } = app.state
  if (wrongFields(values).length > 0) {
    app.set({ notice: text("form.wrong") })
    return
  }
  try {
    const { member } = await signUp(values)
    app.set({ member })
  } catch (error) {
    app.set({ notice: error.message, attempts: attempts + 1, values: {} })
  }
}
