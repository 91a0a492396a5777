import { el, replace, svg } from "./dom.js";
import { num, short, rate, bytes, qp, plural, span } from "./format.js";

// showNumbers opens a dialog with the numbers of a connection: what its queue pairs were told, how their packets travel, what they sent and how long that took.
export async function showNumbers(page, c, findings) {
  const shown = el("dialog", { class: "packets numbers", "aria-label": "Connection" });
  const close = () => shown.close();
  const body = el("div", { class: "numbers-body", tabindex: "0" }, el("p", { class: "quiet", text: "Looking for its numbers …" }));
  shown.append(
    el("header", {}, el("h2", { text: `${c.service} ${c.ends.map((e) => `${e.address} QP ${qp(e.qpn)}`).join(" ↔ ")}` }),
      el("button", { type: "button", on: { click: () => { close(); findings(); } } }, "Findings"),
      el("button", { type: "button", class: "icon", title: "Close (Esc)", "aria-label": "Close", on: { click: close } }, "×")), body);
  shown.addEventListener("close", () => shown.remove());
  document.body.append(shown);
  shown.showModal();
  try {
    replace(body, ...drawNumbers(await page.source.connection(c.id)));
    body.focus({ preventScroll: true });
  } catch (e) {
    replace(body, el("p", { class: "failed", text: `${e.message}.` }));
  }
}

function drawNumbers(c) {
  const plots = charts(c);
  return [
    el("p", { class: "quiet", text: [c.encapsulation, c.pmtu && `path MTU ${c.pmtu}`, `QPs learned by ${c.learned}`, `first seen in frame ${num(c.frame)}`].filter(Boolean).join(" · ") }),
    told(c), operations(c), plots.length ? el("div", { class: "charts" }, plots) : null,
  ].filter(Boolean);
}

const seconds = (s) => (s === undefined ? undefined : span(Math.round(s * 1e9)));
const shareOf = (n, of) => (n && of ? ` (${((100 * n) / of).toFixed(n / of < 0.01 ? 2 : 1)} %)` : "");

// numbersTold are what is told of an end, where it is known.
const numbersTold = [
  ["Packets", (e) => num(e.packets)],
  ["Payload", (e) => bytes(e.bytes)],
  ["Payload a second", (e, c) => e.bytes && e.last && rate(e.bytes / Math.max((Date.parse(e.last) - Date.parse(c.time)) / 1e3, 1e-3))],
  ["Retransmitted packets", (e) => e.retransmissions && num(e.retransmissions) + shareOf(e.retransmissions, e.packets)],
  ["NAKs, RNR NAKs sent", (e) => e.naks > 0 && `${num(e.naks - e.rnr_naks)}, ${num(e.rnr_naks)}`],
  ["Marked by ECN", (e) => e.timing?.marked && num(e.timing.marked) + shareOf(e.timing.marked, e.packets)],
  ["ACK timeout", (e) => e.settings?.timeout !== undefined && (e.settings.timeout ? `${seconds(e.settings.timeout_seconds)} (${e.settings.timeout})` : "none")],
  ["Shortest timer seen", (e) => e.trouble?.timer && seconds(e.trouble.timer)],
  ["Retries", (e) => e.settings?.retry_cnt],
  ["RNR retries", (e) => e.settings?.rnr_retry],
  ["RNR NAK timer code", (e) => e.settings?.min_rnr_timer],
  ["READs and atomics at a time", (e) => [e.settings?.initiator_depth !== undefined && `${e.settings.initiator_depth} may wait`, e.timing?.reads && `${e.timing.reads} did`].filter(Boolean).join(", ")],
  ["Responder resources", (e) => e.settings?.responder_resources],
  ["DSCP", (e) => e.path?.dscp],
  ["VLAN, PCP", (e) => e.path && (e.path.vlan || e.path.pcp) && `${e.path.vlan || 0}, ${e.path.pcp || 0}`],
  ["UDP source port", (e) => e.path?.udp_source_port && e.path.udp_source_port + (e.path.shared ? `, as ${plural(e.path.shared - 1, "other queue pair")} of the two hosts` : "")],
  ["SL, VL", (e) => e.path?.sl !== undefined && `${e.path.sl}, ${e.timing?.vl ?? "?"}`],
  ["P_Key", (e) => e.path?.p_key],
  ["Stalled", (e) => e.trouble?.stalls > 0 && `${plural(e.trouble.stalls, "time")}, ${seconds(e.trouble.lost)}`],
  ["Between messages", (e) => e.timing?.gaps && `p50 ${seconds(e.timing.gaps.p50)}, p99 ${seconds(e.timing.gaps.p99)}`],
];

function told(c) {
  const known = (v) => v !== undefined && v !== false && v !== "" && v !== null;
  return el("table", { class: "told" }, el("thead", {}, el("tr", {}, el("td", {}), c.ends.map((e) => el("th", { scope: "col", text: `${e.address} QP ${qp(e.qpn)}` })))),
    el("tbody", {}, numbersTold.map(([label, value]) => {
      const cells = c.ends.map((e) => value(e, c));
      return cells.some(known) && el("tr", {}, el("th", { scope: "row", text: label }), cells.map((v) => el("td", { text: known(v) ? String(v) : "–" })));
    })));
}

function operations(c) {
  const list = c.ends.flatMap((e, i) => (e.timing?.operations || []).map((o) => [i, o]));
  if (!list.length) return null;
  return el("table", { class: "told" },
    el("thead", {}, el("tr", {}, ["Messages", "From", "Number", "Bytes each", "p50", "p99", "Slowest", "Retransmitted", "Incomplete"].map((t) => el("th", { scope: "col", text: t })))),
    el("tbody", {}, list.map(([i, o]) => el("tr", {}, el("th", { scope: "row", text: o.operation }),
      [`${c.ends[i].address}`, short(o.messages), o.least === o.most ? num(o.most) : `${num(o.least)} to ${num(o.most)}`, seconds(o.latency?.p50), seconds(o.latency?.p99), seconds(o.latency?.most), o.retransmitted && num(o.retransmitted), o.incomplete && num(o.incomplete)]
        .map((v) => el("td", { text: v || "–" }))))));
}

// plotted are the numbers that are drawn over time: of a part of the time, or a second of it, and how the largest is written.
const plotted = [
  ["bytes", "Payload", true, rate], ["retransmitted", "Retransmitted", true, rate], ["slowest", "Longest time of a message", false, (s) => seconds(s)], ["mean", "Time of a message, in the mean", false, (s) => seconds(s)], ["size", "Bytes of a message, in the mean", false, bytes],
  ["gap", "Longest time between two messages", false, (s) => seconds(s)], ["messages", "Messages answered", true, (n) => `${short(Math.round(n))} a second`],
  ["reads", "READs and atomics that wait", false, num], ["marked", "Packets marked by ECN", false, num], ["naks", "NAKs sent", false, num], ["rnr_naks", "RNR NAKs sent", false, num],
];

// charts are the plots of a connection, all over the same time.
function charts(c) {
  const series = c.ends.map((e) => e.timing?.series);
  const at = (s) => Date.parse(s.start) / 1e3;
  const known = series.filter(Boolean);
  if (!known.length) return lately(c);
  const from = Math.min(...known.map(at)), to = Math.max(...known.map((s) => at(s) + s.slot * s.bytes.length));
  return plotted.flatMap(([key, label, second, write]) => series.map((s, i) => {
    if (!s?.[key]?.some(Boolean)) return null;
    const list = second ? s[key].map((v) => v / s.slot) : s[key];
    return chart(`${label}, ${c.ends[i].address} QP ${qp(c.ends[i].qpn)}`, write(Math.max(...list)), list, (at(s) - from) / (to - from), s.slot / (to - from), span(Math.round((to - from) * 1e9)));
  })).filter(Boolean);
}

// lately are the plots of a connection whose messages are not measured.
function lately(c) {
  const s = c.spark || {};
  const width = span(Math.round((s.rate?.length || 0) * c.step * 1e9));
  return [["rate", "Payload", rate], ["resent", "Packets retransmitted", (n) => `${short(Math.round(n))} a second`], ["rnr", "RNR NAKs", (n) => `${short(Math.round(n))} a second`]].map(([key, label, write]) => {
    const list = s[key];
    return list?.some(Boolean) ? chart(`${label}, both ends`, write(Math.max(...list)), list, 0, 1 / list.length, width) : null;
  }).filter(Boolean);
}

// chart draws a list of values as bars, the first from x on, each so wide, of a width of 1.
function chart(label, most, list, x, wide, width) {
  const w = 600, h = 60, top = Math.max(...list);
  const bars = list.map((v, i) => v > 0 && svg("rect", { x: ((x + i * wide) * w).toFixed(2), width: Math.max(wide * w - 0.6, 0.8).toFixed(2), y: (h - Math.max((v / top) * h, 1)).toFixed(1), height: Math.max((v / top) * h, 1).toFixed(1) }));
  const picture = svg("svg", { viewBox: `0 0 ${w} ${h}`, preserveAspectRatio: "none", role: "img", "aria-label": `${label}, at most ${most}` }, svg("line", { x1: 0, x2: w, y1: h, y2: h }));
  picture.append(...bars.filter(Boolean));
  return el("figure", {}, el("figcaption", {}, el("span", { text: label }), el("span", { class: "quiet", text: `at most ${most} · ${width}` })), picture);
}
