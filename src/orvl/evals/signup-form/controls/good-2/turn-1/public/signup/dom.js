/** An element with attributes and children. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? "" : value)
  }
  element.append(...children)
  return element
}
