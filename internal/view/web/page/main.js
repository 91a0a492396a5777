import { el, replace } from "./dom.js";
import { openSource } from "./source.js";
import { readState, writeState } from "./state.js";
import { drawLadder } from "./ladder.js";
import { drawTop, drawTabs } from "./summary.js";
import { Findings } from "./findings.js";
import { Connections } from "./connections.js";
import { Messages } from "./messages.js";
import { Rules } from "./rules.js";

const top = document.getElementById("top"), tabs = document.getElementById("tabs"), view = document.getElementById("view");

// page is what the views share.
const page = {
  source: openSource(),
  state: readState(),
  summary: null,
  rules: new Map(),
  known: null, // resolved when the rules are known
  connected: true,

  set(some) {
    this.state = { ...this.state, ...some };
    writeState(this.state);
  },

  go(name, some) {
    this.state = { view: name, ...some };
    writeState(this.state, true);
    this.enter();
  },

  enter() {
    const v = views[this.state.view];
    this.compact(false);
    if (view.firstChild !== v.node) replace(view, v.node);
    view.setAttribute("aria-labelledby", `tab-${this.state.view}`);
    this.heading();
    v.show(this.summary);
  },

  heading() {
    const s = this.summary;
    const open = top.querySelector("details")?.open;
    const focus = top.contains(document.activeElement);
    drawTop(top, s, { connected: this.connected, help, packets });
    if (open !== undefined && top.querySelector("details")) top.querySelector("details").open = open;
    if (focus) top.querySelector("button")?.focus();
    drawTabs(tabs, s, this.state.view, (name) => this.go(name, {}));
    const n = s.counts.violation;
    document.title = `${n ? `${n} · ` : ""}${s.verdict} · ${s.title} · ibwitness`;
  },

  // compact leaves more room below the verdict.
  compact(on) {
    top.classList.toggle("compact", on);
  },

  async learn() {
    for (const r of await this.source.rules()) this.rules.set(r.id, r);
  },

  told(summary) {
    this.summary = summary;
    this.heading();
    views[this.state.view].told(summary);
  },
};

const views = { findings: new Findings(page), connections: new Connections(page), messages: new Messages(page), rules: new Rules(page) };

const keys = [
  ["j k ↓ ↑", "next, previous row"], ["Enter", "open; in a finding, go to the packets"], ["Esc", "close, go back"], ["n p", "next, previous finding while one is open"], ["→ ←", "from a packet to its fields, and back"],
  ["o", "the offending packet"], ["/", "search"], ["1 2 3 4", "findings, connections, rules, messages where they were measured"], ["?", "this list"],
];

const dialog = el("dialog", { class: "help", "aria-label": "Keys" }, el("h2", { text: "Keys" }), el("dl", {}, keys.map(([k, t]) => [el("dt", {}, k.split(" ").map((x) => el("kbd", { text: x }))), el("dd", { text: t })])),
  el("form", { method: "dialog" }, el("button", { text: "Close" })));
document.body.append(dialog);

// packets shows the packets of an incident.
async function packets(incident) {
  const shown = el("dialog", { class: "packets", "aria-label": "Packets of what happened" });
  const close = () => shown.close();
  const body = el("div", { class: "packets-body" }, el("p", { class: "quiet", text: "Looking for the packets …" }));
  shown.append(el("header", {}, el("h2", { text: incident.what }), el("button", { type: "button", class: "icon", title: "Close (Esc)", "aria-label": "Close", on: { click: close } }, "×")), body);
  shown.addEventListener("close", () => shown.remove());
  document.body.append(shown);
  shown.showModal();
  try {
    const ladder = await page.source.incident(incident.number);
    const drawn = ladder.rows.length ? drawLadder(ladder, { id: `incident-${incident.number}`, expected: "" }) : null;
    replace(body, drawn || el("p", { class: "quiet", text: "The packets are no longer kept." }));
    drawn?.list.focus({ preventScroll: true });
  } catch (e) {
    replace(body, el("p", { class: "failed", text: `${e.message}.` }));
  }
}

function help() {
  dialog.showModal();
}

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]") || !page.summary) return;
  const typing = e.target.matches("input, select, textarea");
  if (typing && e.key !== "Escape") return;
  const numbered = { 1: "findings", 2: "connections", 3: "rules", 4: "messages" }[e.key];
  if (numbered && (numbered !== "messages" || page.summary.messages)) page.go(numbered, {});
  else if (e.key === "?") help();
  else if (!views[page.state.view].pressed(e)) return;
  e.preventDefault();
});

addEventListener("popstate", () => {
  page.state = readState();
  if (page.summary) page.enter();
});

addEventListener("hashchange", () => {
  const state = readState();
  if (JSON.stringify(state) === JSON.stringify(page.state) || !page.summary) return;
  page.state = state;
  page.enter();
});

async function begin() {
  page.known = page.learn();
  page.summary = await page.source.summary();
  page.enter();
  document.documentElement.dataset.ready = "yes";
  page.source.watch((s) => page.told(s), (there) => {
    if (page.connected === there) return;
    page.connected = there;
    page.heading();
  });
}

begin().catch((e) => replace(top, el("p", { class: "failed", text: `This page could not be loaded: ${e.message}` })));
