import { el, svg, replace, say } from "./dom.js";
import { num, plural, psn, qp, span } from "./format.js";

const WIDTH = 300; // of the drawing's own coordinates; it is stretched

// drawLadder shows a ladder: the packets between two endpoints, and what stands in the one that is chosen.
export function drawLadder(ladder, finding) {
  const rows = ladder.rows;
  const fields = el("section", { class: "fields", "aria-label": "Header fields" });
  const list = el("div", { class: "rungs", role: "listbox", tabindex: "0", "aria-label": "Packets, in the order of time" });
  let at = -1;
  const options = [];

  function choose(i, quiet) {
    if (i < 0 || i >= rows.length) return;
    if (at >= 0) {
      options[at].classList.remove("current");
      options[at].setAttribute("aria-selected", "false");
    }
    at = i;
    options[at].classList.add("current");
    options[at].setAttribute("aria-selected", "true");
    list.setAttribute("aria-activedescendant", options[at].id);
    if (!quiet) options[at].scrollIntoView({ block: "nearest" });
    const before = fields.scrollTop;
    drawFields(fields, rows[at], ladder, finding);
    fields.scrollTop = before; // the same field of another packet stays in sight
  }

  for (const [i, r] of rows.entries()) {
    const left = r.apart ? "packets left out" : r.skipped ? `${plural(r.skipped, "packet")} left out` : "";
    if (left) list.append(el("div", { class: "skipped", role: "presentation" }, el("span", { text: left })));
    const node = rung(r, i, finding);
    node.addEventListener("click", () => {
      choose(i);
      list.focus({ preventScroll: true });
    });
    options.push(node);
    list.append(node);
    if (r.mark === "offending" && finding.expected) list.append(expectation(r, finding));
  }
  list.addEventListener("keydown", (e) => {
    const moves = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: rows.length - 1 };
    if (e.key in moves && !e.ctrlKey && !e.metaKey) choose(Math.min(Math.max(moves[e.key], 0), rows.length - 1));
    else if (e.key === "Enter" || e.key === "ArrowRight") fields.querySelector("[tabindex]")?.focus();
    else if (e.key === "o") choose(rows.findIndex((r) => r.mark === "offending"));
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  fields.addEventListener("keydown", (e) => {
    if (e.key === "ArrowLeft") {
      list.focus();
      e.preventDefault();
    }
  });
  const bad = rows.findIndex((r) => r.mark === "offending");
  if (rows.length) choose(bad >= 0 ? bad : rows.length - 1, true);
  const node = el("div", { class: "ladder" },
    el("div", { class: "rails" }, el("div", { class: "ends" }, el("span", { class: "r-frame", text: "Frame" }), el("span", { class: "r-time", text: "Time" }), end(ladder.ends[0]), end(ladder.ends[1], true)), list),
    fields);
  node.reveal = () => {
    if (bad < 0) return;
    const bed = list.parentNode;
    bed.scrollTop = options[bad].offsetTop - bed.clientHeight / 2;
    const field = fields.querySelector(".differs") || fields.querySelector(".transport");
    if (field) fields.scrollTop = field.getBoundingClientRect().top - fields.getBoundingClientRect().top - 90;
  };
  node.list = list;
  return node;
}

function end(e, right) {
  return el("div", { class: `end${right ? " right" : ""}${e.accused ? " accused" : ""}` },
    el("span", { class: "end-address", text: e.address }), el("span", { class: "end-qp", text: `QP ${qp(e.qpn)}` }), e.role && el("span", { class: "end-role", text: e.role }));
}

// arrow is the line of a packet.
function arrow() {
  const y = 12;
  return svg("svg", { class: "arrow", "aria-hidden": "true", preserveAspectRatio: "none", viewBox: `0 0 ${WIDTH} 24` },
    svg("line", { x1: 0, x2: WIDTH, y1: y, y2: y, "vector-effect": "non-scaling-stroke" }));

}

const shortOpcode = (r) => r.opcode.replace(/^(RC|UC|UD|XRC|RD) /, "");

function rung(r, i, finding) {
  const right = r.from === 0;
  const word = r.kind === "nak" ? r.note.split(", ")[0] : shortOpcode(r);
  const rest = r.kind === "nak" ? r.note.split(", ").slice(1).join(", ") : r.note;
  return el("div", {
    class: `rung ${right ? "to-right" : "to-left"} k-${r.kind}${r.mark ? ` ${r.mark}` : ""}`, role: "option", id: `rung-${finding.id}-${i}`, "aria-selected": "false",
  },
  el("span", { class: "r-frame", text: num(r.frame) }),
  el("span", { class: "r-time", title: r.time }, el("span", { text: r.at === 0 ? "0" : `${r.at > 0 ? "+" : ""}${span(r.at)}` })),
  el("span", { class: "lane" },
    el("span", { class: "label" }, el("b", { text: word }), r.psn !== undefined && el("span", { class: "psn", text: psn(r.psn) }), rest && el("span", { class: "more", text: rest }),
      r.bad_icrc && el("span", { class: "flag", text: "bad ICRC" }), r.cut && el("span", { class: "flag", text: "cut" })),
    arrow(), el("span", { class: "tip", "aria-hidden": "true" })),
  el("span", { class: "mark", text: r.mark === "offending" ? (finding.show === "event" ? "event" : "actual") : r.mark === "proof" ? "proof" : "" }));
}

// expectation stands below the offending packet: what should have been in its place. Where that is nothing, no arrow is drawn.
function expectation(r, finding) {
  const absent = /^(nothing|no|none|not|silence)\b/i.test(finding.expected);
  return el("div", { class: `rung expected ${absent ? "absent" : r.from === 0 ? "to-right" : "to-left"}`, role: "presentation" },
    el("span", { class: "r-frame" }), el("span", { class: "r-time" }),
    el("span", { class: "lane" }, el("span", { class: "label", text: finding.expected }), !absent && [arrow(), el("span", { class: "tip", "aria-hidden": "true" })]),
    el("span", { class: "mark", text: "expected" }));
}

// drawFields shows every header field of a packet, and where its bytes stand.
function drawFields(node, r, ladder, finding) {
  const bytes = r.hex.match(/../g) || [];
  const dump = el("code", { class: "bytes", "aria-hidden": "true" });
  const cells = bytes.map((b) => el("span", { text: b }));
  for (let i = 0; i < cells.length; i += 16) {
    dump.append(el("span", { class: "byte-row" }, el("span", { class: "byte-at", text: i.toString(16).padStart(4, "0") }), cells.slice(i, i + 16)));
  }
  const mark = (at, size, on) => {
    for (let i = at; i >= 0 && i < at + size && i < cells.length; i++) cells[i].classList.toggle("lit", on);
  };
  const items = [];
  const layers = r.layers.map((l) => el("div", { class: `layer${l.name === "Base Transport Header" ? " transport" : ""}` },
    el("h4", { text: l.name }),
    el("dl", {}, l.fields.map(([name, value, at, size, expected]) => {
      const item = el("div", { class: `field${expected ? " differs" : ""}`, tabindex: items.length ? "-1" : "0" },
        el("dt", { text: name }),
        el("dd", {}, el("span", { class: "value", text: value }), expected && el("span", { class: "wanted" }, el("span", { class: "wanted-word", text: "expected" }), expected)));
      item.addEventListener("focus", () => mark(at, size, true));
      item.addEventListener("blur", () => mark(at, size, false));
      item.addEventListener("mouseenter", () => mark(at, size, true));
      item.addEventListener("mouseleave", () => mark(at, size, false));
      items.push(item);
      return item;
    }))));
  const body = el("div", { class: "layers" }, layers);
  body.addEventListener("keydown", (e) => {
    const i = items.indexOf(document.activeElement);
    const to = { ArrowDown: i + 1, j: i + 1, ArrowUp: i - 1, k: i - 1, Home: 0, End: items.length - 1 }[e.key];
    if (i < 0 || to === undefined || !items[to]) return;
    items[i].tabIndex = -1;
    items[to].tabIndex = 0;
    items[to].focus();
    say(items[to].textContent);
    e.preventDefault();
    e.stopPropagation();
  });
  for (const item of items) item.addEventListener("mousedown", () => {
    for (const o of items) o.tabIndex = -1;
    item.tabIndex = 0;
  });
  const from = ladder.ends[r.from], to = ladder.ends[1 - r.from];
  replace(node,
    el("header", { class: "fields-head" },
      el("h3", {}, `Frame ${num(r.frame)}`, r.mark && el("span", { class: `tag ${r.mark}`, text: r.mark === "offending" && finding.show === "event" ? "event" : r.mark })),
      el("p", { class: "quiet", text: `${from.address} → ${to.address}` }),
      el("p", { class: "quiet", text: `${r.time.replace("T", " ").replace("Z", " UTC")} · ${plural(r.length, "byte")} on the wire` })),
    body, bytes.length ? dump : null);
}
