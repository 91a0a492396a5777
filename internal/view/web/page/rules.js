import { el, replace } from "./dom.js";
import { num, plural } from "./format.js";
import { Grid, searchBox } from "./grid.js";

const states = [["all", "All"], ["held", "Held"], ["violated", "Violated"], ["unproven", "Not proven"], ["idle", "Not exercised"], ["unjudged", "Not judged"], ["unasked", "No event log"], ["event", "Events"]];

// stateOf says what became of a rule in this run.
export function stateOf(r) {
  if (r.event) return "event";
  if (r.violated) return "violated";
  if (r.unproven) return "unproven";
  if (r.exercised) return "held";
  if (r.not_judged) return "unjudged";
  return r.asked ? "idle" : "unasked";
}

// Rules is the view of the catalogue: which rules were evaluated, and what they say.
export class Rules {
  constructor(page) {
    this.page = page;
    this.grid = new Grid({
      label: "Rules", kind: "rules",
      columns: [
        { name: "state", label: "State" }, { name: "id", label: "Rule" }, { name: "name", label: "Name" }, { name: "severity", label: "Severity" }, { name: "text", label: "What must hold" },
        { name: "exercised", label: "Exercised", numeric: true }, { name: "violated", label: "Violated", numeric: true }, { name: "unproven", label: "Not proven", numeric: true },
      ],
      fetch: async (at, limit) => {
        const list = await this.chosen();
        return { total: list.length, items: list.slice(at, at + limit) };
      },
      loaded: (a) => (this.count.textContent = plural(a.total, "rule")),
      key: (r) => r.id,
      row: (r) => `r-${stateOf(r)}`,
      cells: (r) => [
        el("span", { class: `state r-${stateOf(r)}`, text: states.find(([s]) => s === stateOf(r))[1].replace(/s$/, "") }), el("span", { class: "rule-id", text: r.id }), r.name, r.event ? "" : r.severity, r.text,
        r.exercised ? num(r.exercised) : "–", r.violated ? num(r.violated) : "–", r.unproven ? num(r.unproven) : "–",
      ],
      open: (r, keyed) => this.open(r, keyed),
      selected: (r) => !this.pane.hidden && this.open(r),
      empty: () => el("p", { class: "blank-title", text: "No rule matches" }),
    });
    this.search = searchBox("Search rules", this.grid, () => page.state.q || "", (q) => this.change({ q }));
    this.filter = el("div", { class: "toggles", role: "group", "aria-label": "State" });
    this.count = el("span", { class: "quiet count" });
    this.cover = el("div", { class: "cover" });
    this.pane = el("section", { class: "pane rule-pane", hidden: true, "aria-label": "Rule" });
    this.node = el("div", { class: "rules-view" }, el("section", { class: "list" }, this.cover, el("div", { class: "filters" }, this.filter, this.search, el("span", { class: "grow" }), this.count), el("div", { class: "table" }, this.grid.node)), this.pane);
  }

  async chosen() {
    const s = this.page.state, words = (s.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    const list = [...this.page.rules.values()];
    return list.filter((r) => (!s.state || s.state === "all" ? true : stateOf(r) === s.state) && words.every((w) => `${r.id} ${r.name} ${r.text} ${r.reference}`.toLowerCase().includes(w)));
  }

  async show(summary) {
    this.search.value = this.page.state.q || "";
    this.told(summary);
    await this.page.learn();
    await this.grid.reset();
    const r = this.page.rules.get(this.page.state.rule);
    if (r) {
      const list = await this.chosen();
      this.open(r); // it takes room from the list
      this.grid.select(list.findIndex((x) => x.id === r.id), true);
    } else this.close();
  }

  told(summary) {
    const s = this.page.state, c = summary.rules;
    const parts = [["held", c.held, "held"], ["violated", c.violated + c.warned, "violated"], ["unproven", c.unproven, "not proven"], ["idle", c.total - c.exercised - c.unjudged, "found nothing to judge in this traffic"], ["unjudged", c.unjudged, "cannot be judged from packets"]].filter(([, n]) => n > 0);
    const key = JSON.stringify([parts, s.state]);
    if (this.drawn === key) return;
    const moved = this.drawn !== undefined;
    this.drawn = key;
    const bar = el("div", { class: "cover-bar", role: "img", "aria-label": parts.map(([, n, t]) => `${n} ${t}`).join(", ") }, parts.map(([k, n]) => {
      const p = el("span", { class: `r-${k}` });
      p.style.flexGrow = n;
      return p;
    }));
    replace(this.cover, el("p", { class: "cover-text" }, el("b", { text: `${c.exercised} of ${c.total} rules exercised` }), el("span", { class: "quiet", text: "A rule that was never exercised was not verified." })), bar,
      el("ul", { class: "legend" }, parts.map(([k, n, t]) => el("li", {}, el("span", { class: `swatch r-${k}` }), el("b", { text: num(n) }), ` ${t}`))));
    replace(this.filter, states.map(([v, t]) => el("button", { type: "button", class: "toggle", "aria-pressed": (s.state || "all") === v ? "true" : "false", on: { click: () => this.change({ state: v === "all" ? "" : v }) } }, t)));
    if (moved && summary.live) this.page.learn().then(() => this.grid.refresh());
  }

  change(some) {
    this.page.set({ ...some, rule: "" });
    this.close();
    this.told(this.page.summary);
    this.grid.reset();
  }

  open(r, keyed) {
    this.page.set({ rule: r.id });
    this.pane.hidden = false;
    this.node.classList.add("split");
    const found = this.page.summary.by_rule.find((x) => x.rule === r.id);
    const total = found ? Object.values(found.counts).reduce((a, b) => a + b, 0) : 0;
    const heading = el("h2", { tabindex: "-1" }, el("span", { class: "rule-id", text: r.id }), " ", el("span", { class: "rule-name", text: r.name }));
    const fact = (name, value) => value && [el("dt", { text: name }), el("dd", { text: value })];
    replace(this.pane, el("article", { class: "detail" },
      el("header", { class: "detail-head" }, el("div", { class: "detail-title" }, el("span", { class: `state r-${stateOf(r)}`, text: states.find(([s]) => s === stateOf(r))[1].replace(/s$/, "") }), heading, el("span", { class: "grow" }),
        el("button", { type: "button", class: "icon", title: "Close (Esc)", "aria-label": "Close", on: { click: () => this.close(true) } }, "×"))),
      el("p", { class: "rule-text", text: r.text }),
      el("dl", { class: "facts" }, fact("Severity", r.event ? "none: it is legal, and counted" : r.severity), fact("Reference", r.reference), fact("Needs", r.needs), fact("Not judged", r.not_judged),
        fact("Exercised", num(r.exercised)), !r.event && [fact("Held", num(r.passed)), fact("Violated", num(r.violated)), fact("Not proven", num(r.unproven))]),
      r.reference.includes("†") && el("p", { class: "quiet", text: "† This number is not confirmed by a public source." }),
      total > 0 && el("button", { type: "button", on: { click: () => this.page.go("findings", { rule: r.id, class: r.event ? "event" : "" }) } }, `Show ${plural(total, r.event ? "event" : "finding")}`)));
    if (keyed) heading.focus();
  }

  close(focus) {
    if (this.pane.hidden) return false;
    this.pane.hidden = true;
    this.node.classList.remove("split");
    this.page.set({ rule: "" });
    if (focus) this.grid.node.focus();
    return true;
  }

  pressed(e) {
    if (e.key === "/") this.search.focus();
    else if (e.key === "Escape") return this.close(true);
    else if (["j", "k", "ArrowDown", "ArrowUp"].includes(e.key) && document.activeElement === document.body) {
      this.grid.node.focus();
      this.grid.pressed(e);
    } else return false;
    return true;
  }
}
