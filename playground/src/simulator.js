// The simulator in web workers: calls that are answered later, runs that report their progress, and a worker that is
// started again after it failed or did not stop.

const STOP_MS = 700;

/** Compiles the module once for all workers. */
export async function compile(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  // A server may not know the type of the file, which compiling while it loads needs.
  const known = response.headers.get("content-type")?.startsWith("application/wasm");
  return known ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

/** One worker with the module. */
export class Simulator {
  #module;
  #worker;
  #calls = new Map();
  #last = 0;

  constructor(module) {
    this.#module = module;
    this.#start();
  }

  #start() {
    this.#worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#worker.onerror = (event) => this.#restart({ code: "defect", text: event.message || "a worker cannot be started" });
    this.#worker.postMessage({ call: "load", module: this.#module });
  }

  #receive({ id, result, problem, status }) {
    const call = this.#calls.get(id);
    if (!call) return;
    if (status) {
      call.onStatus?.(status);
      return;
    }
    this.#calls.delete(id);
    if (!problem) {
      call.resolve(result);
      return;
    }
    call.reject(problem);
    // After a defect, the memory of the module may be inconsistent.
    if (problem.code === "defect") this.#restart(problem);
  }

  #restart(problem) {
    this.#worker.terminate();
    const open = [...this.#calls.values()];
    this.#calls.clear();
    this.#start();
    for (const call of open) call.reject(problem);
  }

  #send(name, args, onStatus) {
    const id = ++this.#last;
    const answer = new Promise((resolve, reject) => this.#calls.set(id, { resolve, reject, onStatus }));
    this.#worker.postMessage({ id, call: name, args });
    return { id, answer };
  }

  /** Calls a function of the module. A mistake of the user rejects the promise with its object. */
  call(name, ...args) {
    return this.#send(name, args).answer;
  }

  /** Runs a request. Returns the answer and a function that cancels the run. */
  run(request, onStatus) {
    const { id, answer } = this.#send("simulate", [request], onStatus);
    const cancel = () => {
      this.#worker.postMessage({ id, call: "cancel" });
      // While a run is prepared, its worker receives no messages.
      setTimeout(() => this.#calls.has(id) && this.#restart({ code: "cancelled", text: "cancelled before there were results" }), STOP_MS);
    };
    return { answer, cancel };
  }
}
