import { el } from "./dom.js";

// drawComparison shows the expected packet beside the actual one: the headers in which they differ field by field, the others on demand, and the bytes.
export function drawComparison(c) {
  const layers = [];
  for (const f of c.fields) {
    if (layers.at(-1)?.name !== f.layer) layers.push({ name: f.layer, fields: [] });
    layers.at(-1).fields.push(f);
  }
  const wrong = (l) => l.fields.some((f) => f.outcome === "differs");
  const [there, rest] = [layers.filter(wrong), layers.filter((l) => !wrong(l))];
  if (!there.length) return null;
  const bytes = byteTable(c);
  return el("section", { class: "comparison", "aria-label": "Expected and actual packet" },
    fieldTable(there, "Expected and actual fields"),
    (rest.length || bytes) && el("details", { open: bytes && c.fields.some((f) => f.field === "Payload" && f.outcome === "differs") }, el("summary", { text: bytes ? "Other headers and bytes" : "Other headers" }),
      bytes, rest.length && fieldTable(rest, "Fields of the other headers")));
}

// means says what the outcome of a comparison is.
const means = { differs: "not as expected", follows: "not as expected, but right for the rest of the packet", any: "not determined", equal: "as expected" };

// counted says where bytes are counted from: the same in the bytes below, and in JSON.
const counted = "counted from 0 at the first byte of the LRH, GRH or IP header";

const bytesOf = (f) => (f.offset < 0 ? "" : `; ${f.length === 1 ? `byte ${f.offset}` : `bytes ${f.offset} to ${f.offset + f.length - 1}`}, ${counted}`);

function fieldTable(layers, caption) {
  return el("table", { class: "fieldwise" },
    el("caption", { class: "visually-hidden", text: caption }),
    el("thead", {}, el("tr", {}, ["Field", "Expected", "Actual"].map((text) => el("th", { scope: "col", text })))),
    layers.map((l) => el("tbody", {},
      el("tr", { class: "layer-name" }, el("th", { scope: "rowgroup", colspan: "3", text: l.name })),
      l.fields.map((f) => el("tr", { class: f.outcome, title: `${means[f.outcome]}${bytesOf(f)}` },
        el("th", { scope: "row" }, f.outcome === "differs" && el("span", { class: "sign", "aria-hidden": "true", text: "≠" }), f.field),
        el("td", { class: "want", text: f.expected }),
        el("td", { class: "have" }, f.actual, f.outcome === "differs" && el("span", { class: "visually-hidden", text: " (differs)" })))))));
}

const octets = (hex) => (hex || "").match(/../g) || [];

// byteTable shows the bytes of both packets, sixteen to a row, and marks those that differ where they are determined; null where they are not known.
function byteTable(c) {
  const [want, bits, have] = [octets(c.expected_bytes), octets(c.determined_bits), octets(c.actual_bytes)];
  if (!want.length || !have.length) return null;
  const differs = (i) => i >= want.length || i >= have.length || ((parseInt(want[i], 16) ^ parseInt(have[i], 16)) & parseInt(bits[i] || "ff", 16)) !== 0;
  const line = (name, list, from) => el("span", { class: `byte-row ${name}` }, el("span", { class: "byte-at", text: name }),
    list.slice(from, from + 16).map((b, k) => el(differs(from + k) ? "mark" : "span", { text: b })));
  const rows = [];
  for (let i = 0; i < Math.max(want.length, have.length); i += 16) {
    let same = true;
    for (let k = i; same && k < Math.min(i + 16, Math.max(want.length, have.length)); k++) same = !differs(k);
    rows.push(el("span", { class: "byte-row byte-offset", text: i.toString(16).padStart(4, "0") }), !same && line("expected", want, i), line("actual", have, i));
  }
  return el("code", { class: "bytes side-by-side", title: `Bytes, ${counted}, in hexadecimal` }, rows);
}
