// Results that have no page of their own yet, as tables and facts.
import { create } from "./dom.js";

const ROWS_MAX = 40;
const ROWS_SHOWN = 12;
// Tables that show a run at a glance; the others are folded.
const OPEN = new Set(["jobs", "steps", "path", "classes", "services", "completions", "latencies", "hosts", "workloads"]);
// Limits have a section of their own; the others are records for machines, or have thousands of rows.
const LEFT_OUT = new Set(["limits", "epochs", "series", "host_series", "timeline", "path_pieces", "latency_histogram", "domains"]);

/** Returns a section with the limits of classes of traffic and jobs. */
export function limitsSection(summary) {
  const rows = (summary.limits ?? []).filter((row) => row.limit);
  if (!rows.length) return null;
  const entries = rows.map(({ class: name, limit, place, why }) => {
    const where = place ? ` at ${place}` : "";
    return create("li", {}, create("b", {}, name), " is limited by ", create("b", {}, limit), `${where}: ${why}`);
  });
  return create("section", {}, create("h2", {}, "What limits each class of traffic"), create("ul", { class: "limits" }, ...entries));
}

/** Returns a section with all tables; those that matter less are folded. */
export function tablesSection(tables) {
  const found = Object.entries(tables ?? {}).filter(([name, columns]) => !LEFT_OUT.has(name) && lengthOf(columns));
  const shown = [...OPEN].flatMap((name) => found.filter(([other]) => other === name));
  const folded = found.filter(([name]) => !OPEN.has(name));
  if (!found.length) return null;
  const blocks = [...shown.map(([name, columns]) => table(name, columns, false)), ...folded.map(([name, columns]) => table(name, columns, true))];
  return create("section", {}, create("h2", {}, "Tables"), ...blocks);
}

function lengthOf(columns) {
  return Object.values(columns)[0]?.length ?? 0;
}

function table(name, columns, folds) {
  const length = lengthOf(columns);
  const rows = Array.from({ length: Math.min(length, ROWS_MAX) }, (_, row) =>
    Object.fromEntries(Object.keys(columns).map((column) => [column, columns[column][row]])),
  );
  const more = length > ROWS_MAX ? create("p", { class: "note" }, `${length - ROWS_MAX} more rows`) : null;
  const block = [rowsTable(name, rows, namesFirst(columns)), more];
  if (!folds) return create("div", { class: "block-of-table" }, create("h3", {}, words(name)), ...block);
  return create("details", {}, create("summary", {}, `${words(name)} (${length})`), ...block);
}

// Names of rows stand before their values, and columns without a value are left out.
function namesFirst(columns) {
  const has = (name) => columns[name].some((cell) => cell !== null && cell !== 0 && cell !== "");
  const isText = (name) => columns[name].some((cell) => typeof cell === "string");
  const names = Object.keys(columns).filter(has);
  return [...names.filter(isText), ...names.filter((name) => !isText(name))];
}

function rowsTable(label, rows, names) {
  const isNumber = (name) => rows.every((row) => typeof row[name] !== "string");
  const kind = (name) => (isNumber(name) ? { class: "number" } : {});
  const head = create("tr", {}, ...names.map((name) => create("th", { scope: "col", ...kind(name) }, words(name))));
  const body = rows.map((row) => create("tr", {}, ...names.map((name) => create("td", kind(name), cell(row[name])))));
  const drawn = create("table", { "aria-label": words(label) }, create("thead", {}, head), create("tbody", {}, ...body));
  return create("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": words(label) }, drawn);
}

function words(name) {
  const units = { gb_per_s: "GB/s", gbps: "Gbps", ns: "ns", us: "µs", ms: "ms" };
  const unit = Object.keys(units).find((unit) => name.endsWith(`_${unit}`));
  const plain = (unit ? name.slice(0, -unit.length - 1) : name).replaceAll("_", " ");
  return unit ? `${plain}, ${units[unit]}` : plain;
}

function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) < 1e4 ? 4 : 12, useGrouping: false });
  return String(value);
}

/** Returns sections with the summary of a chip or a network on a chip: facts, and lists as tables. */
export function summarySections(summary) {
  const left = new Set(["config", "config_hash", "result_hash", "format", "kind", "complete"]);
  const known = Object.entries(summary).filter(([name, value]) => value !== null && !left.has(name));
  const own = known.filter(([, value]) => typeof value !== "object");
  const first = own.length ? create("section", {}, create("h2", {}, "Results"), facts(own)) : null;
  return [first, ...known.filter(([, value]) => typeof value === "object").map(([name, value]) => nestedSection(name, value))];
}

function nestedSection(name, value) {
  const rows = rowsOf(value);
  if (!rows.length) return create("section", {}, create("h2", {}, words(name)), facts(Object.entries(value)));
  const busiest = [...rows].sort((a, b) => (b.busy_share ?? 0) - (a.busy_share ?? 0)).slice(0, ROWS_SHOWN);
  const columns = Object.fromEntries([...new Set(rows.flatMap(Object.keys))].map((key) => [key, busiest.map((row) => row[key] ?? null)]));
  const names = namesFirst(columns).filter((key) => !columns[key].some(isNested));
  const more = rows.length > busiest.length ? create("p", { class: "note" }, `${rows.length - busiest.length} more rows`) : null;
  return create("section", {}, create("h2", {}, words(name)), rowsTable(name, busiest, names), more);
}

// A list of objects, or an object of objects, whose names come first.
function rowsOf(value) {
  if (Array.isArray(value)) return value.filter(isNested);
  const rows = Object.entries(value).filter(([, row]) => isNested(row) && !Array.isArray(row));
  return rows.map(([name, row]) => ({ of: words(name), ...row }));
}

function isNested(value) {
  return value !== null && typeof value === "object";
}

function facts(entries) {
  const known = entries.filter(([, value]) => value !== null && value !== "" && !isNested(value));
  return create("dl", { class: "facts" }, ...known.map(([name, value]) => create("div", {}, create("dt", {}, words(name)), create("dd", {}, cell(value)))));
}
