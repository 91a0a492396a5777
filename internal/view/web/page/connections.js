import { el } from "./dom.js";
import { num, short, rate, bytes, qp, plural, span, shows, showNames } from "./format.js";
import { Grid, searchBox } from "./grid.js";
import { spark } from "./spark.js";
import { showNumbers } from "./numbers.js";

const sorts = [["trouble", "Most findings"], ["activity", "Most active"], ["retransmissions", "Most retransmissions"], ["rnr", "Most RNR NAKs"], ["packets", "Most packets"], ["bytes", "Most bytes"], ["first", "First seen"]];

// Connections is the view of connections, with what each did lately.
export class Connections {
  constructor(page) {
    this.page = page;
    this.grid = new Grid({
      label: "Connections", kind: "connections",
      columns: [
        { name: "service", label: "Service" }, { name: "ends", label: "Endpoints" }, { name: "spark", label: "Rate" }, { name: "rate", label: "bit/s", numeric: true, title: "payload bits a second" },
        { name: "packets", label: "Packets", numeric: true, title: "packets, and payload" }, { name: "resent", label: "Retransmitted", title: "retransmitted request packets" }, { name: "rnr", label: "RNR NAKs" },
        { name: "naks", label: "NAKs", numeric: true }, { name: "trouble", label: "Findings" },
      ],
      fetch: (at, limit) => page.source.connections({ sort: page.state.sort || "trouble", q: page.state.q, offset: at, limit }),
      loaded: (a) => this.loaded(a),
      key: (c) => c.id,
      row: () => "",
      cells: (c) => this.cells(c),
      open: (c) => showNumbers(page, c, () => page.go("findings", { q: this.words(c), class: "violation,warning,note,unproven,event" })),
      empty: () => el("p", { class: "blank-title", text: page.state.q ? "No connection matches" : "No connection so far" }),
    });
    this.search = searchBox("Search connections", this.grid, () => page.state.q || "", (q) => this.change({ q }));
    this.sort = el("select", { "aria-label": "Order", on: { change: () => this.change({ sort: this.sort.value }) } }, sorts.map(([v, t]) => el("option", { value: v, text: t })));
    this.count = el("span", { class: "quiet count" });
    this.node = el("div", { class: "plain-view" }, el("div", { class: "filters" }, this.sort, this.search, el("span", { class: "grow" }), this.count), el("div", { class: "table" }, this.grid.node));
  }

  words(c) {
    return c.ends.map((e) => e.address + (e.qpn === undefined ? "" : ` ${qp(e.qpn)}`)).join(" ");
  }

  loaded(a) {
    this.step = a.step;
    let text = plural(a.total, "connection");
    if (a.unseen) text += `, ${num(a.unseen)} more not listed`;
    this.count.textContent = `${text} · ${span(a.step * 60e9)} shown`;
  }

  show() {
    this.sort.value = this.page.state.sort || "trouble";
    this.search.value = this.page.state.q || "";
    this.grid.reset();
  }

  told(summary) {
    if (summary.live && !document.hidden) this.grid.refresh();
  }

  change(some) {
    this.page.set(some);
    this.grid.reset();
  }

  cells(c) {
    const s = c.spark || {};
    const count = (n) => el("span", { class: n ? "count-on" : "count-off", text: n ? short(n) : "–" });
    return [
      el("div", { class: "two" }, el("b", { text: c.service }), el("span", { class: "quiet", text: c.encapsulation })),
      el("div", { class: "two mono" }, c.ends.map((e) => el("span", {}, e.address, el("span", { class: "quiet", text: ` QP ${qp(e.qpn)}` }), e.near && el("span", { class: "near", title: "the capture was taken near this endpoint", text: "near" })))),
      spark(s.rate, "rate", "rate over time"),
      rate(c.rate),
      el("div", { class: "two" }, el("span", { text: short(c.packets) }), el("span", { class: "quiet", text: bytes(c.bytes) })),
      el("div", { class: "counted" }, count(c.retransmissions), spark(s.resent, "resent", "retransmissions over time")),
      el("div", { class: "counted" }, count(c.rnr_naks), spark(s.rnr, "rnr", "RNR NAKs over time")),
      count(c.naks),
      el("span", { class: "troubles" }, shows.filter((k) => c.trouble[k]).map((k) => el("span", { class: `dot s-${k}`, title: showNames[k], text: num(c.trouble[k]) }))),
    ];
  }

  pressed(e) {
    if (e.key === "/") this.search.focus();
    else if (["j", "k", "ArrowDown", "ArrowUp"].includes(e.key) && document.activeElement === document.body) {
      this.grid.node.focus();
      this.grid.pressed(e);
    } else return false;
    return true;
  }
}
