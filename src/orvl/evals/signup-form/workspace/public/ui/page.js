import { h } from "/twig/twig.js"

/** What all our pages have around them. */
export function Page({ house, links }, children) {
  return h("div", { class: "page" },
    h("header", { class: "page-head" },
      h("span", { class: "page-house" }, house),
      h("nav", { class: "page-nav" }, links.map(([href, text]) => h("a", { href, key: href }, text)))),
    h("main", { class: "page-main" }, children))
}
