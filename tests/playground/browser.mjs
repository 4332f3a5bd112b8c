// Drives the page of the playground in a browser: node browser.mjs PACKAGES CHROMIUM ADDRESS FOLDER SCENARIO... Each
// scenario prints a line of JSON: its name, what it saw, and the addresses that it requested. Screenshots go to FOLDER.
import { createRequire } from "node:module";

const [packages, executablePath, address, folder, ...wanted] = process.argv.slice(2);
const { chromium } = createRequire(`${packages}/`)("playwright-core");

const WAIT = { timeout: 240_000 };
const LONG = `[server]
preset = "cascade-lake-6234"
[workload.stream]
kind = "stream"
cores = "0-5"
[run]
duration = "1 s"
`;

async function open(browser, fragment = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.requested = [];
  page.mistakes = [];
  page.on("request", (request) => page.requested.push(request.url()));
  page.on("pageerror", (error) => page.mistakes.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.mistakes.push(message.text()));
  await page.goto(address + fragment);
  await page.waitForSelector("body[data-ready]", WAIT);
  return page;
}

async function paste(page, text) {
  await page.click(".cm-content");
  await page.keyboard.press("Control+a");
  await page.evaluate((pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    document.querySelector(".cm-content").dispatchEvent(event);
  }, text);
}

/** Pastes a text and waits until the link holds it. */
async function enter(page, text) {
  const before = await fragmentOf(page);
  await paste(page, text);
  await page.waitForFunction((old) => location.hash !== old, before, WAIT);
}

const textOf = (page, id) => page.textContent(`#${id}`);
const fragmentOf = (page) => page.evaluate(() => location.hash);
const startsWith = (page, words) => page.waitForFunction((start) => document.getElementById("state").textContent.startsWith(start), words, WAIT);

async function choose(page, name) {
  await page.selectOption("#example", name);
  await page.waitForFunction((file) => document.getElementById("command").textContent.includes(file) && document.getElementById("problem").hidden && !document.getElementById("run").disabled, name, WAIT);
}

async function simulate(page) {
  await page.click("#run");
  await page.waitForSelector("#state[data-hash]", WAIT);
  return page.getAttribute("#state", "data-hash");
}

async function hashes(browser, names) {
  const page = await open(browser);
  const offered = await page.$$eval("#example option", (options) => options.map((option) => option.value));
  const found = {};
  for (const name of names ?? offered) {
    await choose(page, name);
    found[name] = await simulate(page);
  }
  return { page, offered, found };
}

const scenarios = {
  quick: (browser) => hashes(browser, ["quadrant3.toml", "allreduce.toml", "noc.toml", "rdma.toml"]),
  every: (browser) => hashes(browser),

  async mistake(browser) {
    const page = await open(browser);
    await paste(page, LONG.replace("preset", "prest"));
    await page.waitForSelector("#problem:not([hidden])");
    const [problem, disabled] = [await textOf(page, "problem"), await page.isDisabled("#run")];
    const marked = await page.waitForSelector(".cm-lintRange-error").then((mark) => mark.textContent());
    await page.click("#problem button");
    await page.keyboard.press("F8");
    await page.click(".cm-diagnosticAction");
    await page.waitForSelector("#problem[hidden]", { state: "attached" });
    return { page, problem, disabled, marked, fragment: await fragmentOf(page) };
  },

  async cancel(browser) {
    const page = await open(browser);
    await paste(page, LONG);
    await page.click("#run");
    await page.waitForFunction(() => document.getElementById("progress").value > 0, null, WAIT);
    const predicted = await page.$eval("#control-cores", (slider) => !slider.disabled);
    await page.click("#cancel");
    await page.waitForSelector("#state[data-hash]", WAIT);
    const stopped = await textOf(page, "state");
    await choose(page, "redis.toml");
    await page.click("#run");
    await page.waitForSelector("#cancel:not([disabled])");
    await page.click("#cancel");
    await page.waitForSelector("#cancel[disabled]", WAIT);
    await choose(page, "stream.toml");
    return { page, predicted, stopped, after: await simulate(page) };
  },

  async link(browser) {
    const first = await open(browser);
    await enter(first, `# größer\n${LONG}`);
    const fragment = await fragmentOf(first);
    const second = await open(browser, fragment);
    await second.reload();
    await second.waitForSelector("body[data-ready]", WAIT);
    const again = await fragmentOf(second);
    const damaged = await open(browser, fragment.slice(0, -9));
    const changed = await open(browser, `${fragment.slice(0, 30)}${fragment[30] === "A" ? "B" : "A"}${fragment.slice(31)}`);
    const newer = await open(browser, `#2.${fragment.slice(3)}`);
    const notices = await Promise.all([damaged, changed, newer].map((page) => textOf(page, "notice")));
    const shown = await Promise.all([damaged, newer].map((page) => page.inputValue("#example")));
    return { page: second, fragment, again, notices, shown };
  },

  async large(browser) {
    const page = await open(browser);
    const before = await fragmentOf(page);
    await paste(page, `# ${"x".repeat(10_000_000)}\n`);
    await page.waitForSelector("#notice:not([hidden])");
    return { page, notice: await textOf(page, "notice"), kept: before === (await fragmentOf(page)) };
  },

  async sliders(browser) {
    const page = await open(browser);
    const seen = [];
    for (const [name, key] of [["cores", "ArrowLeft"], ["reads", "End"], ["drives", "Home"], ["channels", "ArrowRight"]]) {
      const before = await textOf(page, "report");
      await page.focus(`#control-${name}`);
      await page.keyboard.press(key);
      await page.waitForFunction((text) => document.getElementById("report").textContent !== text, before, WAIT);
      seen.push(await fragmentOf(page));
    }
    await page.waitForSelector("#remedies table", WAIT);
    const helps = await page.$$eval("#remedies tbody tr", (rows) => rows.map((row) => row.cells[0].textContent));
    const term = await page.$eval("#report dfn", (name) => [name.textContent, name.getAttribute("aria-description")]);
    await page.selectOption("#control-caches", "no-ddio");
    await startsWith(page, "Not predicted");
    return { page, seen: [...seen, await fragmentOf(page)], helps, term, state: await textOf(page, "state") };
  },

  async keyboard(browser) {
    const page = await open(browser);
    const visited = [];
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.className.split(" ")[0]);
    const tabTo = async (wanted) => {
      for (let presses = 0; presses < 30 && visited.at(-1) !== wanted; presses++) {
        await page.keyboard.press("Tab");
        visited.push(await focused());
      }
    };
    await tabTo("run");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#state[data-hash]", WAIT);
    await tabTo("cm-content");
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("[mem");
    await page.waitForSelector(".cm-tooltip-autocomplete");
    const labels = await page.$$eval(".cm-completionLabel", (all) => all.map((label) => label.textContent));
    await page.keyboard.press("Escape");
    const isOld = () => page.$eval(".cm-line", (line) => line.textContent.startsWith("# Cores that store"));
    for (let presses = 0; presses < 10 && !(await isOld()); presses++) await page.keyboard.press("Control+z");
    const undone = await isOld();
    await page.keyboard.press("Tab");
    return { page, visited, labels, undone, left: await focused() };
  },

  async looks(browser) {
    const seen = [];
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [400, 1280]) {
        for (const name of ["quadrant3.toml", "allreduce.toml"]) {
          const page = await open(browser, "", { colorScheme, viewport: { width, height: 900 } });
          await choose(page, name);
          await simulate(page);
          if (name === "quadrant3.toml") await page.waitForSelector("#remedies table", WAIT);
          const [needed, shown, paper] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth, getComputedStyle(document.body).backgroundColor]);
          const file = `${folder}/${name.split(".")[0]}-${colorScheme}-${width}.png`;
          await page.screenshot({ path: file, fullPage: true });
          seen.push({ colorScheme, width, name, needed, shown, paper, mistakes: page.mistakes });
          await page.context().close();
        }
      }
    }
    return { page: await open(browser), seen };
  },
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const name of wanted) {
  const { page, ...seen } = await scenarios[name](browser);
  console.log(JSON.stringify({ name, ...seen, requested: page.requested, mistakes: page.mistakes }));
  await page.context().close();
}
await browser.close();
