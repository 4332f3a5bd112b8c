// The page: connects the editor, the controls, the simulator and the link.
import { completions } from "./completion.js";
import * as controls from "./controls.js";
import { part, tell } from "./dom.js";
import { createEditor, goTo, markProblem, replaceText, showStart, textOf } from "./editor.js";
import { decode, encode, TEXT_MAX } from "./link.js";
import * as results from "./results.js";
import { compile, Simulator } from "./simulator.js";

const TYPING_MS = 250;
const REMEDIES_MS = 500;

const state = { name: "", examples: [], kind: "server", names: {}, schemas: {}, turn: 0, run: null, moves: new Map(), timers: {} };
let desk;
let runner;
let adviser;

const view = createEditor({
  parent: part("editor"),
  labelledBy: "editor-label",
  complete: completions(() => ({ schema: state.schemas[state.kind], names: state.names })),
  onEdit: () => later("typing", TYPING_MS, refresh),
  onRefused: (length) =>
    tell(part("notice"), `The text has ${(length / 1e6).toFixed(1)} MB, and the playground takes at most ${TEXT_MAX >> 20} MiB. Shorten it, or run it locally: hostnet run FILE.toml`),
});

function later(name, ms, action) {
  clearTimeout(state.timers[name]);
  state.timers[name] = setTimeout(action, ms);
}

// A network on a chip alone has the traffic that it carries in a table of its own.
function request() {
  const text = textOf(view);
  return { text, file: state.name, noc: /^\s*\[\s*(traffic|trace)\s*[\].]/m.test(text) };
}

function isCurrent(turn) {
  return turn === state.turn;
}

/** Checks the text and predicts its results; the newest call wins. */
async function refresh() {
  const turn = ++state.turn;
  clearTimeout(state.timers.typing);
  // The hash is that of the text as it was.
  delete part("state").dataset.hash;
  tell(part("notice"), "");
  const wanted = request();
  showCommand(wanted.text);
  const link = encode({ name: state.name, text: wanted.text });
  const checked = await desk.call("check", wanted);
  if (!isCurrent(turn)) return;
  history.replaceState(null, "", await link);
  const [problem] = checked.errors;
  showProblem(problem);
  part("run").disabled = Boolean(problem) || Boolean(state.run);
  if (problem) {
    controls.disable(part("controls"));
    stale();
    return;
  }
  state.kind = checked.kind;
  loadSchema(checked.kind);
  showNotes(checked);
  controls.show(part("controls"), await desk.call("controls", wanted), move);
  if (isCurrent(turn)) await predict(turn, wanted);
}

async function predict(turn, wanted) {
  try {
    const predicted = await desk.call("predict", wanted);
    if (!isCurrent(turn)) return;
    results.show(part("report"), predicted);
    delete document.body.dataset.stale;
    tell(part("state"), "Predicted, without simulating. Run simulates every line.");
    advise(turn, wanted, predicted);
  } catch (problem) {
    if (!isCurrent(turn)) return;
    clearResults();
    const reason = problem.code === "not-supported" ? problem.text.replace(/; simulate it.*$/s, "").replace(/^[^:]*: /, "") : problem.text;
    tell(part("state"), problem.code === "wrong-kind" ? "Nothing is predicted for chips and networks on a chip. Run simulates them." : `Not predicted: ${reason}. Run simulates it.`);
  }
}

function clearResults() {
  part("report").replaceChildren();
  part("remedies").replaceChildren();
  delete document.body.dataset.stale;
}

function stale() {
  document.body.dataset.stale = "";
  tell(part("state"), "These results are from before the mistake in the configuration.");
}

/** Shows what would help once the configuration has been left alone for a moment. */
function advise(turn, wanted, found) {
  const workload = results.suffering(found);
  later("remedies", REMEDIES_MS, async () => {
    try {
      const remedies = await adviser.call("remedies", wanted, workload);
      if (isCurrent(turn)) results.showRemedies(part("remedies"), remedies);
    } catch {
      if (isCurrent(turn)) part("remedies").replaceChildren();
    }
  });
}

async function loadSchema(kind) {
  state.schemas[kind] ??= await desk.call("schema", kind);
}

function showNotes({ notes, unvalidated }) {
  const all = [...(unvalidated ? [unvalidated] : []), ...notes];
  part("notes").replaceChildren(...all.map((note) => Object.assign(document.createElement("li"), { textContent: note })));
  part("notes").hidden = !all.length;
}

function showProblem(problem) {
  markProblem(view, problem);
  part("problem").hidden = !problem;
  if (!problem) return;
  const { place, line, column, key, code, text, fix } = problem;
  const where = line ? `${place}:${line}:${column}` : place;
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: where });
  button.onclick = () => goTo(view, problem);
  const message = document.createElement("span");
  message.textContent = `${key ? `${key}: ` : ""}${text} (${code})`;
  const advice = Object.assign(document.createElement("p"), { className: "note", textContent: fix });
  part("problem").replaceChildren(line ? button : "", " ", message, advice);
}

/** Changes the configuration by a control. While one change is made, only the newest value of each control is kept. */
async function move(name, value) {
  const isMoving = state.moves.size > 0;
  state.moves.set(name, value);
  if (isMoving) return;
  while (state.moves.size) {
    const [[next, wanted]] = state.moves;
    try {
      const before = textOf(view);
      const text = await desk.call("adjust", request(), next, wanted);
      if (textOf(view) !== before) continue; // typed meanwhile: the move is made again, on the newer text
      replaceText(view, text);
      if (state.moves.get(next) === wanted) state.moves.delete(next);
      await refresh();
    } catch (problem) {
      state.moves.delete(next);
      showProblem(problem);
    }
  }
}

async function run() {
  if (state.isStarting) return;
  state.isStarting = true;
  // Typing is checked after a pause, and the run may come before.
  await refresh().finally(() => (state.isStarting = false));
  if (!part("problem").hidden || state.run) return;
  const wanted = request();
  const began = performance.now();
  const turn = ++state.turn;
  setRunning(true);
  state.run = runner.run(wanted, showProgress);
  try {
    const found = await state.run.answer;
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    if (isCurrent(turn)) showRun(found, seconds, turn, wanted);
    else if (part("problem").hidden) tell(part("state"), "Predicted; the configuration was changed during the run, whose results are not shown.");
  } catch (problem) {
    if (problem.code === "cancelled") tell(part("state"), `Cancelled before there were results.`);
    else showProblem(problem);
  } finally {
    state.run = null;
    setRunning(false);
  }
}

function showRun(found, seconds, turn, wanted) {
  results.show(part("report"), found);
  delete document.body.dataset.stale;
  const counted = found.events ? `${found.events.toLocaleString("en")} events in ` : "";
  const ended = found.complete ? `Simulated: ${counted}${seconds} s` : `Stopped after ${seconds} s; the results so far`;
  tell(part("state"), `${ended}. Result ${found.result_hash}`);
  part("state").dataset.hash = found.result_hash;
  part("state").dataset.complete = found.complete;
  part("remedies").replaceChildren();
  if (found.kind === "server") advise(turn, wanted, found);
}

function setRunning(isRunning) {
  part("run").disabled = isRunning || !part("problem").hidden;
  part("cancel").disabled = !isRunning;
  part("going").hidden = !isRunning;
  if (!isRunning) return;
  part("progress").removeAttribute("value");
  tell(part("phase"), "starts");
  tell(part("state"), "Simulating …");
}

function showProgress({ progress, phase, simulated_ps: ps }) {
  if (progress > 0) part("progress").value = progress;
  const share = progress > 0 ? `, ${Math.round(100 * progress)} %` : "";
  tell(part("phase"), `${phase}${share}, ${(ps / 1e6).toFixed(1)} µs simulated`);
}

function showCommand(text) {
  const example = state.examples.find(({ name }) => name === state.name);
  const isOriginal = example?.text === text;
  const command = example && !isOriginal && example.noc ? `hostnet noc --config ${state.name}` : `hostnet run ${state.name}`;
  tell(part("command"), isOriginal ? example.command : command);
  tell(
    part("command-note"),
    isOriginal
      ? "In the folder of hostnet's sources, which has the examples."
      : `After “Save as file”, in the folder of the file. ${/^\s*(job|trace|map)\s*=\s*"/m.test(text) ? "Copy the files that it names there, too: those of the examples are in hostnet's folder examples." : ""}`,
  );
}

// The head of an example has its title, what to see, and its commands.
function whatToSee(text) {
  const head = text.split("\n").map((line) => /^# ?(.*)$/.exec(line)?.[1]);
  const [, paragraph] = head.slice(0, head.indexOf(undefined)).join("\n").split("\n\n");
  return paragraph.replaceAll("\n", " ").replaceAll("`", "");
}

function choose(example) {
  state.moves.clear();
  state.name = example.name;
  part("example").value = example.name;
  tell(part("about"), whatToSee(example.text));
  replaceText(view, example.text, { isFirst: !textOf(view) });
  showStart(view);
  clearResults();
  return refresh();
}

async function openLink() {
  try {
    const found = await decode(location.hash);
    if (!found) return false;
    const example = state.examples.find(({ name }) => name === found.name);
    state.name = found.name;
    part("example").value = example ? example.name : "";
    tell(part("about"), example?.text === found.text ? whatToSee(found.text) : "A configuration from a link.");
    replaceText(view, found.text, { isFirst: !textOf(view) });
    showStart(view);
    clearResults();
    await refresh();
    return true;
  } catch (error) {
    await choose(state.examples[0]);
    tell(part("notice"), error.message);
    return true;
  }
}

function save() {
  const url = URL.createObjectURL(new Blob([textOf(view)], { type: "application/toml" }));
  Object.assign(document.createElement("a"), { href: url, download: state.name }).click();
  URL.revokeObjectURL(url);
}

async function share() {
  history.replaceState(null, "", await encode({ name: state.name, text: textOf(view) }));
  let words = "Copied";
  try {
    await navigator.clipboard.writeText(location.href);
  } catch {
    words = "Copy it from the address bar";
  }
  part("share").textContent = words;
  later("share", 2000, () => (part("share").textContent = "Copy link"));
}

function fillExamples() {
  const groups = new Map();
  for (const { name, about, kind } of state.examples) groups.set(kind, [...(groups.get(kind) ?? []), new Option(about, name)]);
  const labels = { server: "Servers", cluster: "Clusters and jobs", chip: "Chips", noc: "Networks on a chip" };
  for (const [kind, options] of groups) {
    const group = Object.assign(document.createElement("optgroup"), { label: labels[kind] });
    group.append(...options);
    part("example").append(group);
  }
}

async function start() {
  const module = await compile("hostnet_web_bg.wasm");
  [desk, runner, adviser] = [1, 2, 3].map(() => new Simulator(module));
  const [examples, presets, names, version] = await Promise.all(
    ["examples", "presets", "names", "version"].map((name) => desk.call(name)),
  );
  state.examples = examples;
  state.names = { preset: presets.map(({ name }) => name), device: names.devices, profile: names.profiles, transport: names.transports };
  tell(part("version"), `hostnet ${version}`);
  fillExamples();
  part("example").onchange = () => choose(examples.find(({ name }) => name === part("example").value));
  part("run").onclick = run;
  part("cancel").onclick = () => state.run?.cancel();
  part("share").onclick = share;
  part("save").onclick = save;
  window.onhashchange = openLink;
  if (!(await openLink())) await choose(examples[0]);
  document.body.dataset.ready = "";
}

start().catch((error) => {
  tell(part("state"), "");
  tell(part("notice"), `The simulator cannot be loaded: ${error.message}. Serve the folder of the playground by a web server, such as python3 -m http.server, and open it in a current browser.`);
});
