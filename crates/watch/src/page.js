"use strict";

const element = (id) => document.getElementById(id);

function child(parent, name, text, kind) {
  const made = parent.appendChild(document.createElement(name));
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function list(id, texts) {
  element(id).replaceChildren();
  for (const text of texts) child(element(id), "li", text);
}

/* Each sample as a dot; the strip ends at the largest of its phase. */
function strip(cell, row, largest) {
  const box = child(cell, "div", undefined, "strip");
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", `${row.samples.length} samples`);
  for (const sample of row.samples) {
    child(box, "i").style.left = `${largest > 0 ? 2 + (96 * sample) / largest : 2}%`;
  }
}

function show(state) {
  if (!state.question) return;
  document.title = `${state.done}/${state.planned} ${state.run}`;
  element("question").textContent = state.question;
  element("facts").textContent = `${state.run}: ${state.lab} lab, seed ${state.seed}`;
  element("bar").max = Math.max(state.planned, 1);
  element("bar").value = state.done;
  element("bar").textContent = `${state.done} of ${state.planned}`;
  element("pace").textContent = `${state.done} of ${state.planned} trials, ${state.pace}`;
  list("running", state.running);
  element("metric").textContent = `${state.metric}; intervals are 95 % of each by itself`;

  element("claims-section").hidden = state.claims.length === 0;
  element("claims").replaceChildren();
  for (const claim of state.claims) {
    const item = child(element("claims"), "li");
    child(item, "span", claim.verdict, "verdict");
    item.append(claim.says);
    child(item, "div", claim.found, "note");
  }

  const largest = {};
  for (const row of state.rows) {
    largest[row.phase] = Math.max(largest[row.phase] ?? 0, ...row.samples);
  }
  element("rows").replaceChildren();
  for (const row of state.rows) {
    const line = child(element("rows"), "tr");
    child(line, "th", row.treatment).scope = "row";
    child(line, "td", row.phase);
    child(line, "td", row.samples.length, "number");
    strip(child(line, "td"), row, largest[row.phase]);
    child(line, "td", row.mean, "number");
    child(line, "td", row.ratio, "number");
  }

  element("troubles-section").hidden = state.troubles.length === 0;
  list("troubles", state.troubles);
}

/* A chart of the report; its drawing has neither scripts nor styles, which the policy forbids. */
function figure(chart) {
  const made = document.createElement("figure");
  made.id = `chart-${chart.id}`;
  const box = child(made, "div", undefined, "scroll");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", chart.title);
  const drawing = new DOMParser().parseFromString(chart.svg, "image/svg+xml");
  box.append(document.importNode(drawing.documentElement, true));
  child(made, "figcaption", chart.says, "note");
  return made;
}

let ended = false;
const states = new EventSource("states");
states.onmessage = (message) => {
  const state = JSON.parse(message.data);
  ended = state.ended === true;
  show(state);
};
states.addEventListener("charts", (message) => {
  const charts = JSON.parse(message.data);
  element("charts-section").hidden = charts.length === 0;
  element("charts").replaceChildren(...charts.map(figure));
});
/* The last charts may come after the last state, so only the server ends the stream. */
states.onerror = () => {
  if (ended) states.close();
  else element("pace").textContent = "ssdlab does not answer; the run may have ended";
};
