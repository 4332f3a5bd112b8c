// Sliders and choices that change the configuration.
import { create } from "./dom.js";

function field(control, onMove) {
  const id = `control-${control.name}`;
  const [input, output] = control.range ? slider(control, id) : choice(control, id);
  input.title = control.key;
  const value = () => (control.range ? Number(input.value) : input.value);
  input.addEventListener("input", () => {
    if (output) output.value = shown(value());
    onMove(control.name, value());
  });
  return create("div", { class: "control" }, create("label", { for: id }, control.label), output, input);
}

function slider({ range: [min, max, step], value }, id) {
  const input = create("input", { id, type: "range", min, max, step });
  input.value = value;
  return [input, create("output", { for: id }, shown(value))];
}

function choice({ options, value }, id) {
  const input = create("select", { id }, ...options.map(([name, label]) => new Option(label, name)));
  input.value = value;
  return [input, null];
}

function shown(value) {
  return String(Math.round(value * 100) / 100);
}

/** Shows the controls of a configuration. Those that are there already are kept, so that a slider stays in the hand. */
export function show(place, controls, onMove) {
  const shape = JSON.stringify(controls.map(({ value, ...rest }) => rest));
  if (place.dataset.shape !== shape) {
    place.dataset.shape = shape;
    place.replaceChildren(...controls.map((control) => field(control, onMove)));
  }
  for (const { name, value } of controls) {
    const input = place.querySelector(`#control-${name}`);
    input.disabled = false;
    if (document.activeElement !== input || input.tagName === "SELECT") input.value = value;
    const output = place.querySelector(`output[for=control-${name}]`);
    if (output) output.value = shown(Number(input.value));
  }
}

/** Disables the controls of a configuration with a mistake, which they cannot change. */
export function disable(place) {
  for (const input of place.querySelectorAll("input, select")) {
    if (document.activeElement !== input) input.disabled = true;
  }
}
