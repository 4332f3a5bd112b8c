// Results of predictions and runs.
import { create } from "./dom.js";
import { limitsSection, summarySections, tablesSection } from "./tables.js";

// Sections of the report of a server that a reader sees at once; the others are folded.
const FIRST = new Set(["header", "results", "picture", "why", "mesh"]);

/** Shows results: the report of a server, or limits, servers and tables of anything else. */
export function show(place, results) {
  const { kind, summary, tables, report } = results;
  if (kind === "server") {
    showReport(place, report);
    return;
  }
  const sections = kind === "cluster" ? [limitsSection(summary), ...report.map(insideSection), tablesSection(tables)] : summarySections(summary);
  place.replaceChildren(create("header", {}, create("h2", {}, summary.name ?? kind)), ...sections.filter(Boolean));
}

// A report that is replaced by that of another prediction keeps its tables open.
function showReport(place, report) {
  const isOpen = place.querySelector("details.tables")?.open;
  const more = create("details", { class: "tables" }, create("summary", {}, "Tables"));
  const sections = (folds) => report.filter(({ name }) => FIRST.has(name) !== folds).map(({ html }) => html);
  place.replaceChildren(markup(sections(false)));
  more.append(markup(sections(true)));
  more.open = Boolean(isOpen);
  place.append(more);
}

function insideSection({ name, html }) {
  return create("section", { class: "inside" }, create("h2", {}, `Inside ${name}`), markup([html]));
}

// The simulator renders the sections, and escapes every name of the configuration.
function markup(sections) {
  const template = document.createElement("template");
  template.innerHTML = sections.join("");
  return template.content;
}

/** Shows what more of each limit would do for a workload. */
export function showRemedies(place, { workload, html }) {
  const content = html ? markup([html]) : create("p", { class: "note" }, `No limit of ${workload} can be raised.`);
  place.replaceChildren(create("section", {}, create("h2", {}, "What would help"), content));
}

/** Returns the workload that most needs help: the one that others slow down most, or the first one. */
export function suffering({ summary, explanations }) {
  const slowed = [...(summary.regime?.slowed ?? [])].sort((a, b) => b.times - a.times);
  return explanations?.[""]?.suffers ?? slowed[0]?.workload ?? summary.workloads?.[0]?.workload;
}
