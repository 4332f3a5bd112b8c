"use strict";

// Buttons that copy: tables as tab-separated text with exact values, blocks of text as they are.

function exact(cell) {
  return cell.dataset.copied ?? cell.innerText.replace(/\s+/g, " ").trim();
}

// Columns that no file has are not copied: their heading has an empty name.
function tableText(table) {
  const kept = Array.from(table.rows[0].cells, (cell) => cell.dataset.copied !== "");
  const text = (row) => Array.from(row.cells, exact).filter((_, index) => kept[index]).join("\t");
  return Array.from(table.rows, text).join("\n") + "\n";
}

function copyByEvent(text) {
  const put = (event) => { event.clipboardData.setData("text/plain", text); event.preventDefault(); };
  document.addEventListener("copy", put);
  const done = document.execCommand("copy");
  document.removeEventListener("copy", put);
  return done;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByEvent(text);
  }
}

function addButton(place, words, label, text) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = words;
  button.setAttribute("aria-label", label);
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    button.textContent = (await copy(text())) ? "Copied" : "Not allowed to copy";
    setTimeout(() => { button.textContent = words; }, 2000);
  });
  place.append(button);
}

for (const place of document.querySelectorAll(".table")) {
  const name = place.firstElementChild.getAttribute("aria-label") ?? "table";
  addButton(place, "Copy as TSV", `Copy ${name} as tab-separated values`, () => tableText(place.querySelector("table")));
}
for (const place of document.querySelectorAll(".block")) {
  addButton(place, "Copy", "Copy this text", () => place.querySelector("pre").textContent);
}

// Charts over time: the legend shows the values under the pointer. They are read back off the drawn lines.

function kindOf(shape) {
  return /stroke-(\w)/.exec(shape.getAttribute("class"))?.[1];
}

function valueAt(position, [low, high, start, end]) {
  return low + (position - start) / (end - start) * (high - low);
}

function said(value) {
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

function readable(svg) {
  const card = svg.closest(".card");
  const [xScale, yScale] = [svg.dataset.x, svg.dataset.y].map((text) => text.split(" ").map(Number));
  const points = new Map();
  for (const line of svg.querySelectorAll("polyline")) {
    const known = points.get(kindOf(line)) ?? [];
    points.set(kindOf(line), known.concat(Array.from(line.points, ({ x, y }) => ({ x, y }))));
  }
  const outputs = new Map();
  for (const entry of card.querySelectorAll(".legend li")) {
    const output = document.createElement("b");
    entry.append(output);
    outputs.set(kindOf(entry.querySelector("line")), output);
  }
  const time = document.createElement("b");
  card.querySelector(".legend").append(time);
  const cursor = svg.appendChild(svg.querySelector(".axis").cloneNode());
  cursor.setAttribute("class", "cursor");
  cursor.setAttribute("y1", yScale[2]);
  cursor.setAttribute("y2", yScale[3]);

  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    const nearest = (known) => known.reduce((best, one) => (Math.abs(one.x - at) < Math.abs(best.x - at) ? one : best));
    const x = nearest(Array.from(points.values()).flat()).x;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    svg.classList.add("read");
    time.textContent = `at ${said(valueAt(x, xScale))} ${svg.dataset.xUnit}`;
    let below = 0;
    for (const [kind, output] of outputs) {
      const point = (points.get(kind) ?? []).find((one) => one.x === x);
      const value = point && valueAt(point.y, yScale);
      output.textContent = point ? said(Math.max(value - below, 0)) : "";
      if (point && svg.dataset.stacked) below = value;
    }
  });
  svg.addEventListener("pointerleave", () => {
    svg.classList.remove("read");
    for (const output of [time, ...outputs.values()]) output.textContent = "";
  });
}

for (const svg of document.querySelectorAll("svg[data-x]")) {
  if (svg.querySelector("polyline")) readable(svg);
}
