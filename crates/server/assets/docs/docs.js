"use strict";

// Renders /openapi.json. All content of the document is inserted as text, never as markup.

const METHODS = ["get", "post", "put", "patch", "delete"];

const el = (name, attributes = {}, ...children) => {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter((child) => child != null));
  return node;
};

// Renders inline `code`, the only supported inline markup.
const inline = (text) =>
  text.split(/(`[^`]+`)/).filter(Boolean).map((part) =>
    part.length > 2 && part.startsWith("`") && part.endsWith("`") ? el("code", {}, part.slice(1, -1)) : part);

// Renders the Markdown subset of the descriptions: paragraphs, headings, lists and tables.
const markdown = (text = "") => text.trim().split(/\n{2,}/).map((block) => {
  const lines = block.split("\n");
  if (block.startsWith("#")) {
    return el("h2", {}, ...inline(block.replace(/^#+\s*/, "")));
  }
  if (lines.every((line) => /^(- |  )/.test(line))) {
    return el("ul", {}, ...lines.map((line) => el("li", {}, ...inline(line.slice(2)))));
  }
  if (lines.every((line) => line.startsWith("|"))) {
    const rows = lines.filter((line) => !/^[|\s:-]+$/.test(line))
      .map((line) => line.slice(1, -1).split("|").map((cell) => cell.trim()));
    const row = (cells, kind) => el("tr", {}, ...cells.map((cell) => el(kind, {}, ...inline(cell))));
    return el("table", {}, el("thead", {}, row(rows[0], "th")), el("tbody", {}, ...rows.slice(1).map((cells) => row(cells, "td"))));
  }
  return el("p", {}, ...inline(lines.join(" ")));
});

let spec;

const resolve = (value) => {
  let seen = 0;
  let extra = {};
  while (value && value.$ref && seen++ < 20) {
    const { $ref, ...rest } = value;
    extra = { ...rest, ...extra };
    value = $ref.slice(2).split("/").reduce((at, key) => at[key.replaceAll("~1", "/").replaceAll("~0", "~")], spec);
  }
  return value && typeof value === "object" ? { ...value, ...extra } : value;
};

const nameOf = (schema) => (schema && schema.$ref ? schema.$ref.split("/").pop() : null);

// Returns a short description of a schema's type and bounds.
const kind = (schema) => {
  if (schema === undefined) return "";
  const whole = resolve(schema);
  const named = nameOf(schema);
  const options = whole.oneOf || whole.anyOf;
  if (options && !named) return options.map(kind).filter(Boolean).join(" or ");
  const types = [whole.type].flat().filter(Boolean).map((type) =>
    type === "array" ? `array of ${kind(whole.items) || "anything"}` : type);
  const parts = [named && (whole.properties || whole.allOf || options) ? named : types.join(" or ")];
  if (whole.format) parts.push(`(${whole.format})`);
  if (whole.const !== undefined) parts.push(JSON.stringify(whole.const));
  if (whole.minimum !== undefined) parts.push(`≥ ${whole.minimum}`);
  if (whole.maximum !== undefined) parts.push(`≤ ${whole.maximum}`);
  if (whole.maxLength !== undefined) parts.push(`at most ${whole.maxLength} characters`);
  if (whole.default !== undefined) parts.push(`default ${whole.default}`);
  return parts.filter(Boolean).join(" ");
};

const words = (schema) => {
  const values = (resolve(schema).enum || []).filter((value) => value !== null);
  return values.length ? el("span", { class: "soft" }, " one of ", ...values.flatMap((value) => [el("code", {}, String(value)), " "])) : null;
};

// Renders the fields of an object as nested, expandable lists.
const members = (schema, depth = 0) => {
  const whole = resolve(schema);
  if (!whole || depth > 6) return null;
  if (whole.type === "array" || [whole.type].flat().includes("array")) return members(whole.items, depth);
  const nodes = [];
  for (const part of whole.allOf || []) nodes.push(members(part, depth));
  for (const option of whole.oneOf || whole.anyOf || []) {
    const inner = members(option, depth + 1);
    if (inner) {
      const about = resolve(option);
      const title = nameOf(option) || about.title || kind(option);
      nodes.push(el("details", {}, el("summary", {}, el("code", {}, title), " ", ...inline(about.description || "")), inner));
    }
  }
  for (const [name, member] of Object.entries(whole.properties || {})) {
    const about = resolve(member);
    const inner = members(member, depth + 1);
    const head = [el("code", {}, name), " ", el("span", { class: "soft" }, kind(member)),
      (whole.required || []).includes(name) ? null : el("span", { class: "soft" }, " optional"), words(member)];
    const note = about.description ? el("div", { class: "note" }, ...markdown(about.description)) : null;
    nodes.push(el("div", { class: "member" }, ...(inner ? [el("details", {}, el("summary", {}, ...head), note, inner)] : [...head, note])));
  }
  const shown = nodes.filter(Boolean);
  return shown.length ? el("div", { class: "members" }, ...shown) : null;
};

const json = (value) => el("pre", { tabindex: "0" }, el("code", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2)));

const parameterTable = (parameters) => el("table", {},
  el("thead", {}, el("tr", {}, ...["Name", "In", "Type", "Description"].map((title) => el("th", {}, title)))),
  el("tbody", {}, ...parameters.map(resolve).map((parameter) => el("tr", {},
    el("td", {}, el("code", {}, parameter.name), parameter.required ? " (required)" : null),
    el("td", {}, parameter.in),
    el("td", {}, kind(parameter.schema), words(parameter.schema.items || parameter.schema)),
    el("td", {}, ...markdown(parameter.description))))));

const bodies = (content = {}) => Object.entries(content).flatMap(([type, media]) => {
  const examples = Object.entries(media.examples || {}).map(([name, example]) =>
    el("details", {}, el("summary", {}, el("code", {}, name)), json(resolve(example).value)));
  return [el("p", { class: "soft" }, el("code", {}, type)), media.schema ? members(media.schema) : null,
    media.example !== undefined ? json(media.example) : null,
    examples.length ? el("details", {}, el("summary", {}, "Examples"), ...examples) : null];
});

const operation = (path, method, about) => {
  const node = el("section", { class: "op", id: about.operationId },
    el("h3", {}, el("span", { class: `method ${method}` }, method.toUpperCase()), el("code", {}, path), about.summary || ""),
    ...markdown(about.description));
  const scope = about["x-required-scope"];
  const access = !about.security.length ? "No authentication required." : scope ? `Requires the scope ${scope}.` : "Requires a session. API keys are not accepted.";
  node.append(el("p", { class: "soft" }, access));
  if (about.parameters) node.append(el("h4", {}, "Parameters"), parameterTable(about.parameters));
  if (about.requestBody) {
    node.append(el("h4", {}, "Body"), ...bodies(about.requestBody.content).filter(Boolean));
  }
  node.append(el("h4", {}, "Responses"));
  for (const [status, response] of Object.entries(about.responses)) {
    const headers = Object.keys(response.headers || {}).join(", ");
    node.append(el("details", {}, el("summary", {}, el("code", {}, status), " ", ...inline(response.description || "")),
      headers ? el("p", { class: "soft" }, "Headers: ", headers) : null, ...bodies(response.content).filter(Boolean)));
  }
  return node;
};

const show = () => {
  const main = document.getElementById("main");
  const index = document.getElementById("index");
  document.title = `${spec.info.title} API`;
  main.replaceChildren(el("h1", {}, spec.info.title, " ", el("small", {}, `API ${spec.info.version}`)), ...markdown(spec.info.description));
  const entries = Object.entries(spec.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({ path, method, about: item[method] })));
  for (const tag of spec.tags) {
    const group = el("div", {}, el("h2", {}, tag.name));
    main.append(el("h2", {}, tag.name), el("p", { class: "soft" }, tag.description));
    for (const { path, method, about } of entries.filter((entry) => (entry.about.tags || []).includes(tag.name))) {
      main.append(operation(path, method, about));
      const text = `${method} ${path} ${about.summary}`.toLowerCase();
      group.append(el("a", { class: "op", href: `#${about.operationId}`, "data-text": text },
        el("span", { class: `method ${method}` }, method.toUpperCase()), about.summary || path));
    }
    index.append(group);
  }
  document.getElementById("filter").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    for (const link of index.querySelectorAll("a.op")) link.hidden = !link.dataset.text.includes(wanted);
    for (const group of index.children) group.hidden = !group.querySelector("a.op:not([hidden])");
  });
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
};

fetch("/openapi.json")
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`status ${response.status}`))))
  .then((read) => { spec = read; show(); })
  .catch((error) => {
    document.getElementById("main").replaceChildren(
      el("p", {}, `The API description could not be loaded (${error.message}). `, el("a", { href: "/openapi.yaml" }, "Open it as text.")));
  });
