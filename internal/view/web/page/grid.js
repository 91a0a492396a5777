import { el, replace, debounce } from "./dom.js";

const PAGE = 100;

// Grid is a table of any length: only the rows in sight exist, and they are fetched by the page.
//   options: label, kind (class name), columns [{name, title, numeric}], fetch(offset, limit) → {total, items},
//   cells(item) → nodes, row(item) → class, open(item), selected(item), empty() → node
export class Grid {
  constructor(options) {
    this.o = options;
    this.id = `grid-${options.kind}`;
    this.pages = new Map();
    this.total = 0;
    this.rowHeight = 30; // pixels
    this.at = -1; // index of the current row
    this.key = null; // its id
    this.opening = false; // it is to be opened when it has come
    this.turn = 0;
    this.busy = false; // refresh is in progress
    this.again = false; // and has to be done once more
    this.space = el("div", { class: "grid-space", role: "presentation" });
    this.body = el("div", { class: "grid-body", role: "rowgroup" }, this.space);
    this.head = el("div", { class: "grid-head", role: "row" }, options.columns.map((c) =>
      el("div", { role: "columnheader", class: `cell c-${c.name}${c.numeric ? " numeric" : ""}`, title: c.title }, c.label)));
    this.blank = el("div", { class: "grid-empty", hidden: true });
    this.node = el("div", {
      class: `grid ${options.kind}`, role: "grid", tabindex: "0", "aria-label": options.label,
      on: { keydown: (e) => this.pressed(e) },
    }, this.head, this.body, this.blank);
    this.node.addEventListener("scroll", () => this.draw(), { passive: true });
    this.body.addEventListener("click", (e) => this.clicked(e));
    new ResizeObserver(() => this.draw()).observe(this.node);
  }

  // reset shows another list from its beginning.
  reset() {
    this.pages.clear();
    this.at = -1;
    this.key = null;
    this.opening = false;
    this.node.scrollTop = 0;
    this.busy = false; // what is being fetched is of another list
    return this.refresh();
  }

  // refresh fetches what is in sight again; what is shown stays until that has come. It waits for one that is under way: where news come faster than
  // answers, none would be shown.
  async refresh() {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    this.again = false;
    const turn = ++this.turn;
    await this.fetch(turn);
    if (turn !== this.turn) return;
    this.busy = false;
    if (this.again) this.refresh();
  }

  async fetch(turn) {
    this.measure();
    const [first, last] = this.sight();
    const wanted = new Set();
    for (let p = Math.floor(first / PAGE); p <= Math.floor(Math.max(first, last - 1) / PAGE); p++) wanted.add(p);
    let answers;
    try {
      answers = await Promise.all([...wanted].map(async (p) => [p, await this.o.fetch(p * PAGE, PAGE)]));
    } catch (e) {
      if (turn === this.turn) this.failed(e);
      return;
    }
    if (turn !== this.turn) return;
    this.pages.clear();
    for (const [p, a] of answers) {
      this.pages.set(p, a.items);
      this.total = a.total;
    }
    this.settle();
    this.at = Math.min(this.at, this.total - 1);
    if (this.opening) this.open();
    this.node.setAttribute("aria-rowcount", this.total + 1);
    this.stretch();
    this.blank.hidden = this.total > 0;
    if (!this.total) replace(this.blank, this.o.empty());
    this.draw();
    this.o.loaded?.(answers[0][1]);
  }

  failed(e) {
    this.blank.hidden = false;
    replace(this.blank, el("p", { text: `This could not be loaded: ${e.message}` }));
  }

  // settle finds the current row again, which others may have moved.
  settle() {
    if (this.key === null) return;
    for (const [p, items] of this.pages) {
      const i = items ? items.findIndex((f) => this.o.key(f) === this.key) : -1; // it may still be on its way
      if (i >= 0) {
        this.at = p * PAGE + i;
        return;
      }
    }
  }

  sight() {
    const h = this.rowHeight;
    const first = Math.max(0, Math.floor(this.node.scrollTop / h) - 4);
    return [first, Math.ceil((this.node.scrollTop + (this.height() || 600)) / h) + 4];
  }

  // height is that of the rows in sight.
  height() {
    return this.node.clientHeight - this.head.offsetHeight;
  }

  // measure takes the height of a row from the style sheet; it depends on how much room there is. The same rows stay in sight.
  measure() {
    const h = parseFloat(getComputedStyle(this.space).getPropertyValue("--row"));
    if (!h || h === this.rowHeight) return;
    const first = this.node.scrollTop / this.rowHeight;
    this.rowHeight = h;
    this.stretch();
    this.node.scrollTop = first * h;
  }

  stretch() {
    this.space.style.height = `${this.total * this.rowHeight}px`;
  }

  item(i) {
    return this.pages.get(Math.floor(i / PAGE))?.[i % PAGE];
  }

  // need fetches the page of a row, once.
  need(i) {
    const p = Math.floor(i / PAGE);
    if (this.pages.has(p)) return;
    this.pages.set(p, undefined);
    const turn = this.turn;
    this.o.fetch(p * PAGE, PAGE).then((a) => {
      if (turn !== this.turn) return;
      this.pages.set(p, a.items);
      this.settle();
      if (this.opening) this.open();
      this.draw();
    }, () => this.pages.delete(p));
  }

  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  }

  paint() {
    this.measure();
    const [first, end] = this.sight();
    const rows = [];
    for (let i = first; i < Math.min(end, this.total); i++) {
      const item = this.item(i);
      if (item === undefined) this.need(i);
      rows.push(this.row(i, item));
    }
    replace(this.space, rows);
    this.node.toggleAttribute("data-rolled", this.node.scrollTop > 0);
    if (this.item(this.at)) this.node.setAttribute("aria-activedescendant", `${this.id}-${this.at}`);
    else this.node.removeAttribute("aria-activedescendant");
  }

  row(i, item) {
    const current = i === this.at;
    const node = el("div", {
      class: `grid-row ${item ? this.o.row(item) : "pending"}${current ? " current" : ""}`, role: "row", id: `${this.id}-${i}`,
      "aria-rowindex": i + 2, "aria-selected": current ? "true" : "false", "data-index": i,
    }, item ? this.o.cells(item).map((c, k) => {
      const column = this.o.columns[k];
      return el("div", { role: "gridcell", class: `cell c-${column.name}${column.numeric ? " numeric" : ""}` }, c);
    }) : []);
    node.style.transform = `translateY(${i * this.rowHeight}px)`;
    return node;
  }

  // select makes a row the current one and brings it into sight.
  select(i, quiet) {
    if (!this.total) return;
    this.at = Math.min(Math.max(i, 0), this.total - 1);
    const h = this.rowHeight, top = this.at * h;
    if (top < this.node.scrollTop) this.node.scrollTop = top;
    else if (top + h > this.node.scrollTop + this.height()) this.node.scrollTop = top + h - this.height();
    const item = this.item(this.at);
    this.key = item ? this.o.key(item) : null;
    if (item && !quiet) this.o.selected?.(item);
    this.draw();
  }

  current() {
    return this.item(this.at);
  }

  async step(n) {
    this.select(this.at + n, true);
    for (let tries = 0; !this.current() && tries < 40; tries++) await new Promise((done) => setTimeout(done, 50));
    if (this.current()) this.key = this.o.key(this.current());
    return this.current();
  }

  clicked(e) {
    const row = e.target.closest(".grid-row");
    if (!row) return;
    this.select(Number(row.dataset.index), true);
    const item = this.current();
    if (item) this.o.open(item);
  }

  // open opens the current row, as soon as it is there.
  open() {
    const item = this.current();
    this.opening = !item && this.at >= 0;
    if (item) this.o.open(item, true);
  }

  pressed(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const many = Math.max(1, Math.floor(this.height() / this.rowHeight) - 1);
    const moves = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: many, PageUp: -many, Home: -Infinity, End: Infinity };
    if (e.key in moves) {
      const n = moves[e.key];
      this.opening = false;
      this.select(n === -Infinity ? 0 : n === Infinity ? this.total - 1 : this.at < 0 ? 0 : this.at + n);
    } else if (e.key === "Enter" || e.key === " ") {
      if (this.at < 0) this.select(0);
      this.open();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }
}

// searchBox is a field to search a grid by: now tells what is searched for, and change takes another. Enter does not wait for the typist to pause.
export function searchBox(label, grid, now, change) {
  const apply = () => {
    drop(); // else it would search in whatever view is open by then
    if (box.isConnected && box.value.trim() !== now()) change(box.value.trim());
  };
  const [paused, drop] = debounce(apply, 150);
  const box = el("input", { type: "search", class: "search", placeholder: "Search", "aria-label": label, "aria-keyshortcuts": "/", on: { input: paused } });
  box.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && box.value) {
      box.value = "";
      apply();
    } else if (["Enter", "ArrowDown", "Escape"].includes(e.key)) {
      apply();
      grid.node.focus({ preventScroll: true });
      if (grid.at < 0) grid.select(0, true);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });
  return box;
}
