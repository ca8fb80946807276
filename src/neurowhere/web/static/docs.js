// The documentation of the API, made from its own OpenAPI description, with a try-out for each route.

import { $, capital, fill, make } from "./dom.js";

const description = await (await fetch("api/v1/openapi.json")).json();
const schemas = description.components.schemas;
const follow = (schema) => (schema?.$ref ? schemas[schema.$ref.split("/").pop()] : schema ?? {});

fill($("about"), ...description.info.description.split("\n\n").map((words) => make("p", {}, words)));
const routes = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })));
const anchor = ({ path, method }) => path.replaceAll(/[^a-z0-9]+/g, "-").slice(1) + (method === "DELETE" ? "-delete" : "");

fill($("index"), ...routes.map((route) => make("a", { href: `#${anchor(route)}` }, route.path.replace("/api/v1", ""))));
fill($("routes"), ...routes.map(section));
$("routes").setAttribute("aria-busy", "false");

function section(route) {
  const { path, method, operation } = route;
  const body = operation.requestBody?.content["application/json"]?.schema;
  const isFile = Boolean(operation.requestBody?.content["application/octet-stream"]);
  const ok = Object.entries(operation.responses["200"]?.content ?? {});
  return make("section", { class: "card route", id: anchor(route) },
    make("div", { class: "card-head" },
      make("h2", {}, make("span", { class: `method ${method.toLowerCase()}` }, method), " ", make("code", {}, path)),
      make("span", { class: "soft" }, operation.summary)),
    body ? fields("Body", follow(body)) : null,
    isFile ? make("p", { class: "soft form" }, "Body, the bytes of a file") : null,
    operation.parameters ? fields("In the address", { properties: Object.fromEntries(operation.parameters.map(({ name, schema, description: words }) => [name, { description: words, ...schema }])) }) : null,
    ...ok.map(([type, { schema }]) => answer(type, schema)),
    errors(operation.responses),
    tryOut(route, body && (follow(body).example ?? {}), isFile));
}

function answer(type, schema) {
  const known = follow(schema);
  if (known.properties) return fields(`Answer, ${type}`, known);
  return make("p", { class: "soft form" }, "Answer, ", make("code", {}, type));
}

function errors(responses) {
  const rows = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  if (!rows.length) return null;
  return make("details", {}, make("summary", {}, "Errors"),
    make("ul", {}, ...rows.map(([status, { description: words }]) => make("li", {}, make("code", {}, status), ` ${words}`))));
}

function fields(title, schema) {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    make("tr", {},
      make("th", { scope: "row" }, make("code", {}, name)),
      make("td", {}, make("code", { class: "soft" }, kind(field))),
      make("td", {}, [follow(field).description ?? field.description, limits(field)].filter(Boolean).join(" "))));
  return make("details", { open: title === "Body" }, make("summary", {}, title),
    schema.description ? make("p", { class: "soft" }, schema.description) : null,
    make("div", { class: "wide" }, make("table", {}, make("tbody", {}, ...rows))));
}

// The type of a field, in a few words.
function kind(field) {
  if (field.$ref) return field.$ref.split("/").pop();
  if (field.anyOf) return field.anyOf.map(kind).join(" or ");
  if (field.enum) return field.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (field.const) return JSON.stringify(field.const);
  if (field.prefixItems) return `[${field.prefixItems.map(kind).join(", ")}]`;
  if (field.type === "array") return `${kind(field.items)}[]`;
  return field.type ?? "any";
}

function limits(field) {
  const said = [];
  const of = (value, words) => value !== undefined && said.push(`${words} ${value.toLocaleString?.("en") ?? value}`);
  of(field.default === null ? undefined : field.default, "Default");
  of(field.maxLength, "at most");
  of(field.maxItems, "at most");
  of(field.minimum, "from");
  of(field.maximum, "to");
  return said.length ? `${capital(said.join(", ")).replace(/, to /, " to ")}.` : "";
}

function tryOut({ path, method }, body, isFile) {
  const label = `Body to send to ${path}`;
  const file = isFile ? make("input", { type: "file", "aria-label": label }) : null;
  const input = body ? make("textarea", { rows: "4", spellcheck: "false", "aria-label": label }, JSON.stringify(body, null, 2)) : null;
  const output = make("div", { class: "output", role: "status" });
  const send = async () => {
    const begin = performance.now();
    if (file && !file.files.length) { fill(output, make("p", { class: "problem" }, "Choose a file first.")); return; }
    const options = file ? { method, body: file.files[0] } : body ? { method, body: input.value, headers: { "Content-Type": "application/json" } } : {};
    try {
      const response = await fetch(path.slice(1), options);
      const took = `${response.status} · ${Math.round(performance.now() - begin)} ms`;
      fill(output, make("p", { class: "soft" }, took), await rendered(response));
    } catch {
      fill(output, make("p", { class: "problem" }, "The server does not answer."));
    }
  };
  return make("div", { class: "try" }, input, file, make("button", { type: "button", class: "primary", onclick: send }, `Try ${method}`), output);
}

async function rendered(response) {
  const type = response.headers.get("Content-Type");
  if (type.startsWith("image/")) return make("img", { alt: "The picture that came back", src: URL.createObjectURL(await response.blob()) });
  if (type.includes("json")) return make("pre", { tabindex: "0" }, JSON.stringify(await response.json(), null, 2));
  if (type.startsWith("text/plain")) return make("pre", { tabindex: "0" }, await response.text());
  const size = (await response.blob()).size.toLocaleString("en");
  return make("p", {}, `${size} bytes of ${type}`);
}
