// Completion of keys and values from the JSON Schema of the configuration.

/** Returns a source of completions. `look` returns the schema and the names of presets, once they are loaded. */
export function completions(look) {
  return (context) => {
    const { schema, names } = look();
    if (!schema) return null;
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    const lines = context.state.doc.sliceString(0, line.from).split("\n");
    const whole = context.state.doc.toString();
    const at = (typed) => context.pos - typed.length;
    const [, header] = /^\s*\[{1,2}\s*([\w.-]*)$/.exec(before) ?? [];
    if (header !== undefined) return keyCompletions(schema, [], header, at, whole, false);
    const table = tableOf(lines);
    const [, key] = /^\s*([\w.-]*)$/.exec(before) ?? [];
    if (key !== undefined) {
      return key || context.explicit ? keyCompletions(schema, table, key, at, whole, true) : null;
    }
    const [, path, typed] = /^\s*([\w.-]+)\s*=\s*("?[^"#]*)$/.exec(before) ?? [];
    if (path === undefined) return null;
    const nodes = descend(schema, [...table, ...path.split(".")], whole);
    const options = valueOptions(nodes, path.split(".").pop(), names);
    return options.length ? { from: at(typed), options, validFor: /^"?[^"#]*$/ } : null;
  };
}

/** Returns the path of the table that the line after these is in. */
export function tableOf(lines) {
  const header = lines.findLast((line) => /^\s*\[/.test(line));
  return /^\s*\[{1,2}([^\]]*)\]/.exec(header ?? "")?.[1].split(".").map((name) => name.trim().replace(/^"|"$/g, "")) ?? [];
}

/** Returns the nodes of a schema at a path. */
export function descend(schema, path, whole) {
  let nodes = [schema];
  path.forEach((name, depth) => {
    nodes = nodes.flatMap((node) => alternatives(node, path.slice(0, depth), whole)).flatMap((node) => child(node, name));
  });
  return nodes.flatMap((node) => alternatives(node, path, whole));
}

function child(node, name) {
  if (node.properties?.[name]) return [node.properties[name]];
  return typeof node.additionalProperties === "object" ? [node.additionalProperties] : [];
}

// Of alternatives that differ in `kind`, that of the text counts, once it has one.
function alternatives(node, path, whole) {
  const found = node.oneOf ?? node.anyOf;
  if (!found?.some((one) => one.properties)) return [node];
  const kind = kindOf(path, whole);
  const same = found.filter((one) => one.properties?.kind?.const === kind);
  return same.length ? same : found;
}

function kindOf(path, whole) {
  let table = [];
  for (const line of whole.split("\n")) {
    if (/^\s*\[/.test(line)) table = tableOf([line]);
    const [, key, kind] = /^\s*([\w.-]+)\s*=\s*"([^"]*)"/.exec(line) ?? [];
    if (key && [...table, ...key.split(".")].join(".") === [...path, "kind"].join(".")) return kind;
  }
  return undefined;
}

function keyCompletions(schema, table, typed, at, whole, assigns) {
  const parts = typed.split(".");
  const last = parts.pop();
  const found = new Map();
  for (const node of descend(schema, [...table, ...parts], whole)) {
    for (const [name, about] of Object.entries(node.properties ?? {})) found.set(name, about);
  }
  const isTable = (node) => Boolean(node.properties ?? node.additionalProperties);
  const options = [...found].filter(([, about]) => assigns || isTable(about)).map(([label, about]) => ({
    label,
    type: isTable(about) ? "namespace" : "property",
    detail: isTable(about) ? "table" : defaultOf(about),
    info: about.description,
    apply: assigns && !isTable(about) ? `${label} = ` : label,
  }));
  return options.length ? { from: at(last), options, validFor: /^[\w-]*$/ } : null;
}

function defaultOf(node) {
  return node.default === undefined ? undefined : `= ${JSON.stringify(node.default)}`;
}

function valueOptions(nodes, key, names) {
  const options = new Map();
  const add = (value, info) => options.set(JSON.stringify(value), { label: JSON.stringify(value), info, type: "constant" });
  const visit = (node) => {
    if (node.const !== undefined) add(node.const, node.description);
    for (const value of node.enum ?? []) add(value);
    if (node.type === "boolean") [true, false].forEach((flag) => add(flag));
    if (node.default !== undefined && typeof node.default !== "object") add(node.default, "default");
    for (const example of node.examples ?? []) add(example, "example");
    for (const one of [...(node.oneOf ?? []), ...(node.anyOf ?? [])]) visit(one);
  };
  for (const name of names[key] ?? []) add(name);
  nodes.forEach(visit);
  return [...options.values()];
}
