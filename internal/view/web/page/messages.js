import { el } from "./dom.js";
import { num, short, bytes, qp, plural, span } from "./format.js";
import { Grid, searchBox } from "./grid.js";
import { spark } from "./spark.js";

const orders = [["most", "Slowest"], ["p99", "Slowest 99 %"], ["p50", "Slowest median"], ["incomplete", "Most incomplete"], ["retransmitted", "Most retransmitted"], ["bytes", "Most bytes"], ["count", "Most messages"]];

// Messages is the view of what the messages of queue pairs took.
export class Messages {
  constructor(page) {
    this.page = page;
    this.grid = new Grid({
      label: "Messages", kind: "messages",
      columns: [
        { name: "ends", label: "From, to" }, { name: "operation", label: "Operation" }, { name: "count", label: "Messages", numeric: true, title: "messages, and payload" }, { name: "largest", label: "Largest", numeric: true },
        { name: "p50", label: "p50", numeric: true, title: "half of them took no longer" }, { name: "p99", label: "p99", numeric: true }, { name: "most", label: "Slowest", numeric: true },
        { name: "slow", label: "Over time", title: "the longest that a message of this end took" }, { name: "rate", label: "Rate", title: "payload that this end sent" },
        { name: "retransmitted", label: "Retransmitted", numeric: true, title: "messages of which a packet was retransmitted" }, { name: "incomplete", label: "Incomplete", numeric: true, title: "no answer was seen, or a NAK ended the connection" },
      ],
      fetch: async (at, limit) => {
        const list = await this.chosen();
        return { total: list.length, items: list.slice(at, at + limit) };
      },
      loaded: (a) => this.loaded(a),
      key: (o) => o.id,
      row: () => "",
      cells: (o) => this.cells(o),
      open: (o) => page.go("findings", { q: o.ends.map((e) => this.name(e)).join(" "), class: "violation,warning,note,unproven,event" }),
      empty: () => el("p", { class: "blank-title", text: "No message matches" }),
    });
    this.search = searchBox("Search queue pairs", this.grid, () => page.state.q || "", (q) => this.change({ q }));
    this.sort = el("select", { "aria-label": "Order", on: { change: () => this.change({ sort: this.sort.value }) } }, orders.map(([v, t]) => el("option", { value: v, text: t })));
    this.count = el("span", { class: "quiet count" });
    this.node = el("div", { class: "plain-view" }, el("div", { class: "filters" }, this.sort, this.search, el("span", { class: "grow" }), this.count), el("div", { class: "table" }, this.grid.node));
  }

  name(e) {
    return `${e.address} ${qp(e.qpn)}`;
  }

  async chosen() {
    this.all ??= await this.page.source.messages();
    const words = (this.page.state.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    const by = orders.some(([s]) => s === this.page.state.sort) ? this.page.state.sort : "most";
    const list = this.all.items.filter((o) => words.every((w) => `${o.service} ${o.operation} ${o.ends.map((e) => this.name(e)).join(" ")}`.toLowerCase().includes(w)));
    return list.toSorted((a, b) => b[by] - a[by] || a.id - b.id);
  }

  loaded(a) {
    const more = this.all.total - this.all.items.length;
    this.count.textContent = `${plural(a.total, "row")}${more ? `, ${num(more)} faster ones not listed` : ""}`;
  }

  show() {
    this.sort.value = this.page.state.sort || "most";
    this.search.value = this.page.state.q || "";
    this.grid.reset();
  }

  told() {}

  change(some) {
    this.page.set(some);
    this.grid.reset();
  }

  cells(o) {
    const time = (s) => (o.most ? span(Math.round(s * 1e9)) : "–");
    const count = (n) => el("span", { class: n ? "count-on" : "count-off", text: n ? short(n) : "–" });
    return [
      el("div", { class: "two mono" }, o.ends.map((e) => el("span", {}, e.address, el("span", { class: "quiet", text: ` QP ${qp(e.qpn)}` })))),
      el("div", { class: "two" }, el("b", { text: o.operation }), el("span", { class: "quiet", text: o.service })),
      el("div", { class: "two" }, el("span", { text: short(o.count) }), el("span", { class: "quiet", text: bytes(o.bytes) })),
      bytes(o.largest), time(o.p50), time(o.p99), time(o.most),
      spark(o.slow, "rnr", "longest time over the run", 0, o.slow?.length), spark(o.rate, "rate", "rate over the run", 0, o.rate?.length),
      count(o.retransmitted), count(o.incomplete),
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
