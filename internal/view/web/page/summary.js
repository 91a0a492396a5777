import { el, svg, replace } from "./dom.js";
import { num, plural, span, day, short, shows, showNames, showPlural } from "./format.js";

const glyphs = { VIOLATED: "✕", CLEAN: "✓", OPEN: "…", "NOT PROVEN": "?", "NOT JUDGED": "–", INCOMPLETE: "…", WARNED: "!", INCIDENT: "!", STOPPED: "!" };

// drawTop shows the verdict at a glance.
export function drawTop(node, s, o) {
  const verdict = s.verdict;
  const sealed = s.live && verdict === "NOT JUDGED" ? "WAITING" : verdict;
  replace(node,
    el("div", { class: "bar" },
      el("span", { class: "brand" }, logo(), "ibwitness"),
      el("span", { class: "subject", title: s.title, text: s.title }),
      el("span", { class: "grow" }),
      s.live ? el("span", { class: `pulse ${o.connected ? "on" : "off"}`, text: o.connected ? "live" : "connection lost" }) : el("span", { class: "quiet when", text: s.first ? day(s.first) : "" }),
      el("button", { class: "plain", type: "button", "aria-haspopup": "dialog", title: "Keys", on: { click: o.help } }, el("kbd", { text: "?" }), " keys")),
    el("div", { class: "verdict", "data-verdict": verdict },
      el("div", { class: "word" }, el("span", { class: "glyph", "aria-hidden": "true", text: glyphs[verdict] || "" }),
        el("div", { class: "words" }, el("h1", { text: sealed }), el("p", { class: "sentence", text: s.sentence }), el("p", { class: "also", text: s.also }))),
      figures(s),
      s.timeline && drawTimeline(s)),
    incidents(s, o),
    observations(s),
    remarks(s));
}

// observations tells what limits the pace, what stopped and what took long, beside incidents.
function observations(s) {
  if (!s.observations.length) return null;
  return el("section", { class: "incidents", "aria-label": "Beside it" },
    el("h2", { text: s.incidents.length ? "Beside it" : "What happened" }),
    s.observations.map((what) => el("p", { text: what })));
}

// incidents tells what happened: a sentence each, and what the frames show where it is opened.
function incidents(s, o) {
  if (!s.incidents.length) return null;
  return el("section", { class: "incidents", "aria-label": "What happened" },
    el("h2", { text: "What happened" }),
    s.incidents.map((i, at) => el("details", { class: `incident i-${i.incident}`, open: !s.live && at === 0 },
      el("summary", {}, i.what, s.live && el("span", { class: "quiet", text: ` ${i.state}` })),
      el("dl", {},
        (i.facts || []).map((f) => [el("dt", { text: f.label }), el("dd", { text: f.text })]),
        i.found && [el("dt", { text: "findings" }), el("dd", { text: i.found.map((f) => `${showNames[f.class] || f.class} ${f.class === "event" ? f.name : `${f.rule} ${f.name}`}: ${num(f.count)}`).join("; ") })],
        i.frames && [el("dt", { text: "seen in" }), el("dd", { text: `frames ${i.frames.join(", ")}` })],
        i.fits_with && [el("dt", { text: "fits" }), el("dd", { text: i.fits_with.join("; or ") })],
        i.next && [el("dt", { text: "next" }), el("dd", { text: i.next.join("; ") })],
        i.ladder && [el("dt", { text: "packets" }), el("dd", {}, el("button", { type: "button", class: "plain", on: { click: () => o.packets(i) } }, "Show them"))]))),
    s.more_incidents > 0 && el("p", { class: "quiet", text: `… and ${num(s.more_incidents)} more` }));
}

function logo() {
  return svg("svg", { class: "logo", viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { d: "M3 1v14M13 1v14", class: "logo-rails" }), svg("path", { d: "M3 4l10 3M13 9L3 12", class: "logo-rungs" }));
}

function figures(s) {
  const list = [
    ["RDMA packets", short(s.rdma), `${num(s.rdma)} of ${plural(s.packets, "frame")}`],
    ["Connections", num(s.connections), s.forgotten ? `${num(s.forgotten)} no longer followed` : ""],
    ["Rules exercised", `${s.rules.exercised}`, "", el("span", { class: "of", text: ` of ${s.rules.total}` })],
    [s.live ? "Watching for" : "Captured", span(s.span), s.first ? `since ${day(s.first)}` : ""],
    ["Dropped", num(s.dropped), "packets that the capture says it lost", null, s.dropped > 0],
  ];
  if (s.repeated) list.push(["Seen twice", num(s.repeated), "packets that another tap had already shown"]);
  if (s.undecoded) list.push(["Not decoded", num(s.undecoded), "", null, true]);
  if (s.live) list.push(["Lag", span(s.lag), "how far verification lags the clock", null, s.lag > 10e9]);
  return el("dl", { class: "figures" }, list.map(([name, value, title, more, bad]) =>
    el("div", { title, class: bad ? "bad" : "" }, el("dt", { text: name }), el("dd", {}, value, more))));
}

function remarks(s) {
  const list = [...s.problems.map((p) => ["bad", p]), ...s.not_judged.map((n) => ["", `Not judged (${num(n.count)}): ${n.reason}`]), ...s.notes.map((n) => ["", n])];
  if (!list.length) return null;
  return el("details", { class: "remarks", open: s.problems.length > 0 }, el("summary", { text: plural(list.length, "remark") }), el("ul", {}, list.map(([c, t]) => el("li", { class: c, text: t }))));
}

// drawTimeline shows when findings were made: a lane each for violations and warnings, for what is not proven, and for events.
function drawTimeline(s) {
  const t = s.timeline, n = t.counts[0].length;
  const of = (names) => Array.from({ length: n }, (_, i) => names.reduce((sum, k) => sum + t.counts[shows.indexOf(k)][i], 0));
  const lanes = [
    ["violation", "violations", of(["violation"])],
    ["warning", "warnings", of(["warning", "note"])],
    ["unproven", "not proven", of(["unproven"])],
    ["event", "events", of(["event"])],
  ].filter(([, , list], i) => i !== 1 || list.some(Boolean));
  const from = s.live ? `the last ${span(t.step * n)}` : span(s.span);
  return el("figure", { class: "timeline" },
    lanes.map(([kind, name, list]) => {
      const top = Math.max(...list, 1);
      return el("div", { class: "lane-row" }, el("span", { class: "lane-name", text: name }),
        svg("svg", { class: `bars b-${kind}`, viewBox: `0 0 ${n} 16`, preserveAspectRatio: "none", role: "img", "aria-label": `${name} over time: ${num(list.reduce((a, b) => a + b, 0))}` },
          list.map((v, i) => v > 0 && svg("rect", { x: i + 0.1, width: 0.8, y: 16 - Math.max(2, 16 * Math.sqrt(v / top)), height: Math.max(2, 16 * Math.sqrt(v / top)) }, svg("title", { text: plural(v, "finding") })))));
    }),
    el("figcaption", {}, el("span", { text: s.live ? `−${span(t.step * n)}` : "0" }), el("span", { text: s.live ? "now" : from })));
}

// drawTabs shows the views and how much is in them.
export function drawTabs(node, s, view, go) {
  const found = s.counts.violation + s.counts.warning + s.counts.note + s.counts.unproven;
  const tabs = [["findings", "Findings", num(found)], ["connections", "Connections", num(s.connections)], ["rules", "Rules", `${s.rules.exercised}/${s.rules.total}`]];
  if (s.messages) tabs.splice(2, 0, ["messages", "Messages", num(s.messages)]);
  const key = `${view} ${tabs.map((t) => t[2])}`;
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  const had = document.activeElement?.id;
  replace(node, tabs.map(([id, name, n], i) =>
    el("button", {
      type: "button", role: "tab", id: `tab-${id}`, "aria-selected": id === view ? "true" : "false", "aria-controls": "view", tabindex: id === view ? "0" : "-1",
      on: {
        click: () => go(id),
        keydown: (e) => {
          const to = { ArrowRight: i + 1, ArrowLeft: i - 1 }[e.key];
          if (to === undefined) return;
          go(tabs[(to + tabs.length) % tabs.length][0]);
          document.getElementById(`tab-${tabs[(to + tabs.length) % tabs.length][0]}`).focus();
        },
      },
    }, name, el("span", { class: "n", text: n }))));
  if (had?.startsWith("tab-")) document.getElementById(had)?.focus();
}

// chip names the kind of a finding.
export const chip = (show) => el("span", { class: `chip s-${show}`, text: showNames[show] });

// toggles choose kinds of findings.
export function toggles(counts, on, change) {
  return el("div", { class: "toggles", role: "group", "aria-label": "Classes" }, shows.filter((k) => k !== "note" || counts.note).map((k) =>
    el("button", {
      type: "button", class: `toggle s-${k}`, "aria-pressed": on.includes(k) ? "true" : "false", "data-show": k,
      on: { click: () => change(on.includes(k) ? on.filter((x) => x !== k) : [...on, k]) },
    }, showPlural[k], el("span", { class: "n", text: num(counts[k]) }))));
}
