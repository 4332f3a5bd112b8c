// Runs the simulator in a web worker. A message is {id, call, args}: the name of a function of the module, and its
// arguments. The answer is {id, result} or {id, problem}. "simulate" also sends {id, status} about ten times a second;
// {id, call: "cancel"} stops it, and its results so far follow. The first message is {call: "load", module}.
import load, * as hostnet from "./hostnet_web.js";

const SLICE_MS = 100;

const cancelled = new Set();
let loaded;

onmessage = async ({ data: { id, call, args = [], module } }) => {
  if (call === "load") {
    loaded = load({ module_or_path: module });
    return;
  }
  if (call === "cancel") {
    cancelled.add(id);
    return;
  }
  try {
    await loaded;
    const result = call === "simulate" ? await simulate(id, ...args) : hostnet[call](...args);
    postMessage({ id, result });
  } catch (problem) {
    postMessage({ id, problem: problem.code ? problem : { code: "defect", text: String(problem) } });
  } finally {
    cancelled.delete(id);
  }
};

async function simulate(id, request) {
  const simulation = hostnet.Simulation.start(request, (status) => postMessage({ id, status }));
  try {
    while (simulation.step(SLICE_MS) && !cancelled.has(id)) {
      postMessage({ id, status: simulation.status() });
      // Messages that cancel the run arrive here.
      await new Promise((resolve) => setTimeout(resolve));
    }
    return simulation.results();
  } finally {
    simulation.free();
  }
}
