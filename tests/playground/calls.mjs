// Calls functions of the WebAssembly module: node calls.mjs MODULE.mjs MODULE.wasm < calls.json. Each call is a list of
// the name of a function and its arguments. The answers are lines of JSON: the result or the problem, the number of
// calls of the progress function, and the milliseconds. A last argument of {"stop": true} makes that function return
// false.
import { readFileSync } from "node:fs";

const [script, wasm] = process.argv.slice(2);
const hostnet = await import(script);
await hostnet.default({ module_or_path: readFileSync(wasm) });

for (const [name, ...given] of JSON.parse(readFileSync(0, "utf8"))) {
  const began = performance.now();
  let calls = 0;
  const stops = given.at(-1)?.stop ?? false;
  const args = name === "simulate" ? [given[0], () => (calls++, !stops)] : given;
  const answer = {};
  try {
    if (name === "mount") args[1] = Uint8Array.from(args[1]);
    answer.result = hostnet[name](...args);
  } catch (problem) {
    answer.problem = problem.code ? problem : String(problem);
  }
  console.log(JSON.stringify({ ...answer, calls, ms: performance.now() - began }));
}
