import { el, replace } from "./dom.js";
import { num, offset, party, psn } from "./format.js";
import { chip } from "./summary.js";
import { drawLadder } from "./ladder.js";
import { drawComparison } from "./comparison.js";

// drawDetail shows one finding: who did what, what was expected, the rule, and the packets around it.
export function drawDetail(f, ladder, failed, o) {
  const drawn = ladder && ladder.rows.length ? drawLadder(ladder, f) : null;
  const heading = el("h2", { tabindex: "-1" }, el("span", { class: "rule-id", text: f.rule }), " ", el("span", { class: "rule-name", text: f.name }));
  const times = el("p", { class: "times" });
  const node = el("article", { class: `detail s-${f.show}` },
    el("header", { class: "detail-head" },
      el("div", { class: "detail-title" }, chip(f.show), heading, el("span", { class: "grow" }),
        el("button", { type: "button", class: "icon", title: "Previous finding (p)", "aria-label": "Previous finding", on: { click: () => o.step(-1) } }, "↑"),
        el("button", { type: "button", class: "icon", title: "Next finding (n)", "aria-label": "Next finding", on: { click: () => o.step(1) } }, "↓"),
        el("button", { type: "button", class: "icon", title: "Close (Esc)", "aria-label": "Close", on: { click: o.close } }, "×")),
      el("p", { class: "parties" }, el("span", { class: "accused", text: [f.accused?.role, party(f.accused)].filter(Boolean).join(" ") || "endpoint not known" }),
        party(f.peer) && [el("span", { class: "quiet", text: " towards " }), el("span", { text: party(f.peer) })]),
      el("p", { class: "quiet" }, f.frame ? `Frame ${num(f.frame)}${o.taps.length > 1 ? ` of tap ${f.tap}, ${o.taps[f.tap]}` : ""}` : "No frame", " · ", el("span", { title: f.time, text: when(f.time, f.at, o.live) }),
        f.opcode && ` · ${f.opcode}, PSN ${psn(f.psn)}`, f.log && ` · ${f.log}${f.line ? ` line ${f.line}` : ""}`, f.evidence.length > 1 && ` · proven by frames ${f.evidence.map(num).join(", ")}`),
      times),
    f.expected && el("div", { class: "compare" },
      el("div", { class: "side expected" }, el("h3", { text: "Expected" }), el("p", { text: f.expected })),
      el("div", { class: "side actual" }, el("h3", { text: "Actual" }), el("p", { text: f.actual }))),
    f.comparison && drawComparison(f.comparison),
    f.detail && el("p", { class: "remark", text: f.detail }),
    o.rule && el("p", { class: "rule-text" }, o.rule.text, " ", el("span", { class: "reference", title: "Section or compliance statement of the InfiniBand Architecture; † marks a number that no public source confirms", text: o.rule.reference && `[${o.rule.reference}]` }), " ",
      el("button", { type: "button", class: "plain", on: { click: o.showRule } }, "Rule")),
    drawn || el("p", { class: `no-ladder${!ladder && !failed ? " loading" : ""}`, text: !f.frame ? "No frame shows this finding, so there is no ladder." : failed ? sentenceOf(failed) : ladder ? "The packets around this finding are no longer kept." : "Looking for the packets around it …" }));
  node.recount = (now) => {
    times.hidden = !(now.count > 1);
    if (!times.hidden) replace(times, el("b", { text: `${num(now.count)} times` }), `, last ${when(now.last_time, now.last, o.live)}${now.last_frame ? ` in frame ${num(now.last_frame)}` : ""}`, now.frames?.length && `; first in frames ${now.frames.map(num).join(", ")}`);
  };
  node.recount(f);
  node.reveal = () => drawn?.reveal();
  node.focus = () => (drawn ? drawn.list : heading).focus({ preventScroll: true });
  return node;
}

const when = (stamp, at, live) => (live ? stamp.replace("T", " ").replace("Z", " UTC") : `${offset(at)} s`);

const sentenceOf = (t) => `${t[0].toUpperCase()}${t.slice(1)}.`;
