/** Returns the element with an id. */
export const part = (id) => document.getElementById(id);

/** Creates an element with attributes and children; texts are never markup. */
export function create(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Shows a text in an element, and hides the element without one. */
export function tell(element, text) {
  element.textContent = text;
  element.hidden = !text;
}
