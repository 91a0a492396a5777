import { el, replace, say } from "./dom.js";
import { num, short, offset, clock, party, psn, shows, plural } from "./format.js";
import { Grid, searchBox } from "./grid.js";
import { chip, toggles } from "./summary.js";
import { drawDetail } from "./detail.js";

const usual = ["violation", "warning", "note", "unproven"];

// Findings is the view of findings: a rail of rules and endpoints, a table, and beside it the finding that is open.
export class Findings {
  constructor(page) {
    this.page = page;
    this.opened = 0; // the finding that is beside the table
    this.turn = 0; // which one was asked for
    this.pinned = 0; // newest finding that the table shows, while its reader is further down
    this.grid = new Grid({
      label: "Findings", kind: "findings",
      columns: [
        { name: "show", label: "Class" }, { name: "count", label: "Times", numeric: true, title: "how many findings the row represents" }, { name: "time", label: "Time", numeric: true }, { name: "last", label: "Last", numeric: true }, { name: "frame", label: "Frame", numeric: true }, { name: "rule", label: "Rule" },
        { name: "accused", label: "Accused" }, { name: "peer", label: "Peer" }, { name: "packet", label: "Packet" }, { name: "said", label: "Expected → actual" },
      ],
      fetch: async (at, limit) => {
        const id = this.opened || undefined;
        return { ...(await page.source.findings({ ...this.query(), id, offset: at, limit })), asked: id };
      },
      loaded: (a) => this.loaded(a),
      key: (f) => f.id,
      row: (f) => `s-${f.show}`,
      cells: (f) => this.cells(f),
      open: (f, keyed) => this.open(f.id, keyed),
      selected: (f) => this.opened && this.open(f.id, false, true),
      empty: () => this.nothing(),
    });
    this.search = searchBox("Search findings", this.grid, () => page.state.q || "", (q) => this.change({ q }));
    this.rule = el("select", { class: "narrow", "aria-label": "Rule", on: { change: () => this.change({ rule: this.rule.value }) } });
    this.endpoint = el("select", { class: "narrow", "aria-label": "Endpoint", on: { change: () => this.change({ endpoint: this.endpoint.value }) } });
    this.kinds = el("div", { class: "kinds" });
    this.clear = el("button", { type: "button", class: "plain clear", on: { click: () => this.change({ class: "", rule: "", endpoint: "", q: "" }) } }, "Clear filters");
    this.count = el("span", { class: "quiet count" });
    this.newer = el("button", { type: "button", class: "newer", hidden: true, on: { click: () => this.unpin() } }, "New findings ↑");
    this.rail = el("aside", { class: "rail", "aria-label": "Filter by rule and endpoint" });
    this.pane = el("section", { class: "pane", hidden: true, "aria-label": "Finding" });
    this.node = el("div", { class: "findings-view" }, this.rail,
      el("section", { class: "list" },
        el("div", { class: "filters" }, this.kinds, this.rule, this.endpoint, this.search, this.clear, el("span", { class: "grow" }), this.count),
        el("div", { class: "table" }, this.newer, this.grid.node)),
      this.pane);
    this.grid.node.addEventListener("scroll", () => {
      if (this.grid.node.scrollTop === 0 && this.pinned) this.unpin();
    }, { passive: true });
  }

  query() {
    const s = this.page.state, live = this.page.summary?.live;
    return { class: s.class, rule: s.rule, endpoint: s.endpoint, q: s.q, order: live ? "newest" : "", upto: this.pinned || undefined };
  }

  // newest reports whether the reader is where new findings appear.
  atTop() {
    return !this.page.summary?.live || this.grid.node.scrollTop === 0;
  }

  loaded(a) {
    this.seen = a.newest;
    const on = this.page.state.class ? this.page.state.class.split(",") : usual;
    const left = on.reduce((sum, k) => sum + (a.left?.[k] || 0), 0);
    const text = plural(a.total, "finding") + (left ? ` listed, ${num(left)} more only counted` : "") + (a.times > a.total ? `, ${num(a.times)} times in all` : "");
    if (this.count.textContent !== text) this.count.textContent = text;
    this.newer.hidden = !this.pinned || a.newest <= this.pinned;
    if (a.opened && a.asked === this.opened) this.recount(a.opened);
  }

  // recount takes what the finding that is open stands for by now; another may have come to stand for it.
  recount(f) {
    this.detail?.recount(f);
    if (f.id === this.opened) return;
    this.opened = f.id;
    this.grid.key = f.id;
    this.grid.settle();
    this.page.set({ id: String(f.id) });
  }

  unpin() {
    this.pinned = 0;
    this.newer.hidden = true;
    this.grid.node.scrollTop = 0;
    this.grid.refresh();
  }

  show(summary) {
    this.told(summary);
    this.search.value = this.page.state.q || "";
    this.grid.reset();
    const id = this.page.state.id;
    if (id) this.open(id, false, true);
    else this.close(true);
  }

  // told takes a new summary.
  told(summary) {
    const s = this.page.state;
    const on = s.class ? s.class.split(",") : usual;
    const key = JSON.stringify([summary.counts, on, s.rule, s.endpoint, s.q]), times = JSON.stringify(summary.times);
    if (this.drawn !== key) this.drawFilters(summary, on);
    this.drawn = key;
    const news = this.times !== undefined && this.times !== times;
    this.times = times;
    if (!news || !summary.live) return;
    if (!this.atTop() && !this.pinned) this.pinned = this.seen || 0; // keeps the table as it is while its reader is further down
    this.grid.refresh();
  }

  drawFilters(summary, on) {
    const s = this.page.state;
    const focus = this.rail.contains(document.activeElement) || this.kinds.contains(document.activeElement) ? document.activeElement.dataset.show || document.activeElement.dataset.pick : "";
    replace(this.kinds, toggles(summary.counts, on, (list) => {
      const all = list.length === usual.length && usual.every((k) => list.includes(k));
      this.change({ class: all ? "" : shows.filter((k) => list.includes(k)).join(",") || usual.join(",") });
    }));
    this.drawRail(summary, on);
    if (focus) this.node.querySelector(`[data-show="${focus}"], [data-pick="${CSS.escape(focus)}"]`)?.focus();
    this.clear.hidden = !(s.class || s.rule || s.endpoint || s.q);
  }

  drawRail(summary, on) {
    const s = this.page.state;
    const sum = (c) => on.reduce((n, k) => n + c[k], 0);
    const worst = (c) => shows.find((k) => c[k] > 0);
    const rules = summary.by_rule.filter((r) => sum(r.counts) > 0 || r.rule === s.rule);
    const pick = (name, value, label, more, counts) => el("button", {
      type: "button", class: `pick s-${worst(counts) || "event"}`, "aria-pressed": s[name] === value ? "true" : "false", "data-pick": `${name} ${value}`, title: more ? `${label} ${more}` : label,
      on: { click: () => this.change({ [name]: s[name] === value ? "" : value }) },
    }, el("span", { class: "pick-label" }, el("span", { class: "pick-name", text: label }), more && el("span", { class: "pick-more", text: more })), el("span", { class: "n", text: num(sum(counts)) }));
    const left = Object.values(summary.others).some(Boolean);
    replace(this.rail,
      el("h2", { text: "Rules" }), rules.length ? rules.map((r) => pick("rule", r.rule, r.rule, r.name, r.counts)) : el("p", { class: "quiet", text: "none" }),
      el("h2", { text: "Accused" }), summary.accused.filter((a) => sum(a.counts) > 0).map((a) => pick("endpoint", a.address, a.address, "", a.counts)),
      left && el("p", { class: "quiet", text: "and others" }), !summary.accused.length && el("p", { class: "quiet", text: "nobody" }));
    const options = (node, none, list, now) => {
      if (document.activeElement === node) return;
      if (now && !list.some(([v]) => v === now)) list.push([now, now]);
      replace(node, el("option", { value: "", text: none }), list.map(([v, t]) => el("option", { value: v, text: t, selected: v === now })));
      node.value = now || "";
    };
    options(this.rule, "All rules", rules.map((r) => [r.rule, `${r.rule} ${r.name} (${num(sum(r.counts))})`]), s.rule);
    options(this.endpoint, "All endpoints", summary.accused.map((a) => [a.address, `${a.address} (${num(sum(a.counts))})`]), s.endpoint);
  }

  change(some) {
    this.pinned = 0;
    this.newer.hidden = true;
    this.page.set({ ...some, id: "" });
    if ("q" in some && this.search.value.trim() !== some.q) this.search.value = some.q;
    this.close(true);
    this.told(this.page.summary);
    this.grid.reset();
  }

  cells(f) {
    const { live, taps } = this.page.summary;
    const many = f.count > 1;
    return [
      chip(f.show),
      many && `×${short(f.count)}`,
      el("span", { title: many ? `${f.time} to ${f.last_time}` : f.time, text: live ? clock(f.time) : offset(f.at) }),
      many && el("span", { title: f.last_time, text: live ? clock(f.last_time) : offset(f.last) }),
      f.frame ? el("span", { title: taps[f.tap] }, taps.length > 1 && el("span", { class: "quiet", text: `${f.tap}:` }), num(f.frame)) : "–",
      [el("span", { class: "rule-id", text: f.rule }), el("span", { class: "rule-name", text: f.name })],
      [f.accused?.role && el("span", { class: "role", text: f.accused.role }), el("span", { class: "who", text: party(f.accused, true) || "–" })],
      party(f.peer, true) || "–",
      f.opcode ? [f.opcode, " ", el("span", { class: "psn", text: psn(f.psn) })] : "–",
      f.expected ? [el("span", { class: "want", text: f.expected }), el("span", { class: "to", text: " → " }), el("span", { class: "have", text: f.actual })] : f.detail || "",
    ];
  }

  nothing() {
    const s = this.page.state, filtered = s.class || s.rule || s.endpoint || s.q;
    if (filtered) return el("div", {}, el("p", { class: "blank-title", text: "No finding matches" }), el("button", { type: "button", on: { click: () => this.change({ class: "", rule: "", endpoint: "", q: "" }) } }, "Clear filters"));
    const events = this.page.summary?.counts.event;
    return el("div", {}, el("p", { class: "blank-title", text: this.page.summary?.live ? "Nothing found so far" : "Nothing found" }),
      el("p", { class: "quiet", text: this.page.summary?.sentence }),
      events ? el("button", { type: "button", on: { click: () => this.change({ class: "event" }) } }, `Show ${plural(events, "event")}`) : null);
  }

  // open shows a finding beside the table; keyed: its reader goes on with the keyboard.
  async open(id, keyed, quiet) {
    this.opened = Number(id);
    this.grid.key = this.opened;
    this.grid.settle();
    this.grid.draw();
    this.page.set({ id: String(id) });
    this.node.classList.add("split");
    this.page.compact(true);
    this.pane.hidden = false;
    const turn = ++this.turn;
    this.detail = null;
    let finding, ladder, failed;
    try {
      finding = await this.page.source.finding(id);
      await this.page.known; // the rules
    } catch (e) {
      if (turn === this.turn) replace(this.pane, el("div", { class: "pane-empty" }, el("p", { class: "blank-title", text: `Finding ${id}` }), el("p", { class: "quiet", text: e.message }), el("button", { type: "button", on: { click: () => this.close() } }, "Close")));
      return;
    }
    if (turn !== this.turn) return;
    this.recount(finding);
    const draw = (ladder, failed) => drawDetail(finding, ladder, failed, {
      live: this.page.summary.live,
      taps: this.page.summary.taps,
      rule: this.page.rules.get(finding.rule),
      close: () => this.close(),
      step: (n) => this.step(n),
      filter: (some) => this.change(some),
      showRule: () => this.page.go("rules", { rule: finding.rule }),
    });
    const put = (detail) => replace(this.pane, (this.detail = detail));
    const slow = setTimeout(() => turn === this.turn && put(draw()), 250); // a large capture is being read
    try {
      ladder = await this.page.source.ladder(finding.id);
    } catch (e) {
      failed = e.message;
    }
    clearTimeout(slow);
    if (turn !== this.turn) return;
    const drawn = draw(ladder, failed);
    put(drawn);
    drawn.reveal();
    if (keyed) drawn.focus();
    else if (!quiet) say(`${finding.rule} ${finding.name}, ${finding.show}`);
  }

  async step(n) {
    const f = await this.grid.step(this.grid.at < 0 ? 0 : n);
    if (f && f.id !== this.opened) await this.open(f.id, true);
  }

  close(quiet) {
    if (this.pane.hidden) return false;
    this.opened = 0;
    this.turn++;
    this.pane.hidden = true;
    replace(this.pane);
    this.node.classList.remove("split");
    this.page.compact(false);
    this.page.set({ id: "" });
    this.grid.draw();
    if (!quiet) this.grid.node.focus({ preventScroll: true });
    return true;
  }

  // pressed takes a key that nothing within has taken.
  pressed(e) {
    if (e.key === "/") {
      this.search.focus();
      this.search.select();
    } else if (e.key === "Escape") {
      return this.close();
    } else if (["j", "k", "ArrowDown", "ArrowUp", "Enter"].includes(e.key) && !this.pane.contains(document.activeElement) && document.activeElement === document.body) {
      this.grid.node.focus({ preventScroll: true });
      this.grid.pressed(e);
    } else if (this.opened && (e.key === "n" || e.key === "p")) this.step(e.key === "n" ? 1 : -1);
    else return false;
    return true;
  }
}
