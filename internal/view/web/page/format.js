const grouping = new Intl.NumberFormat("en-US");

export const num = (n) => grouping.format(n);

export const plural = (n, noun) => `${num(n)} ${noun}${n === 1 ? "" : "s"}`;

// scaled writes 1234567 as 1.23 M.
function scaled(n, base, units) {
  let i = 0;
  while (n >= base * 0.9995 && i < units.length - 1) {
    n /= base;
    i++;
  }
  const digits = i === 0 || n >= 100 ? 0 : n >= 10 ? 1 : 2;
  return `${n.toFixed(i === 0 && n < 10 && n % 1 ? 1 : digits)} ${units[i]}`;
}

export const bytes = (n) => scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);

export const rate = (n) => (n > 0 ? `${scaled(n * 8, 1000, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"])}` : "0");

export const short = (n) => (n < 100000 ? num(n) : scaled(n, 1000, ["", "k", "M", "G", "T"]).replace(" ", " "));

// span writes nanoseconds so that three or four digits count.
export function span(ns) {
  const a = Math.abs(ns);
  const sign = ns < 0 ? "−" : "";
  const digits = (v) => (v >= 100 ? v.toFixed(0) : v >= 10 ? v.toFixed(1) : v.toFixed(2));
  if (a < 1e3) return `${sign}${a} ns`;
  if (a < 1e6) return `${sign}${digits(a / 1e3)} µs`;
  if (a < 1e9) return `${sign}${digits(a / 1e6)} ms`;
  if (a < 60e9) return `${sign}${digits(a / 1e9)} s`;
  const s = Math.floor(a / 1e9);
  const d = Math.floor(s / 86400), h = Math.floor((s % 86400) / 3600), m = Math.floor((s % 3600) / 60);
  const two = (a, unit, b, lesser) => `${sign}${a} ${unit}${b ? ` ${b} ${lesser}` : ""}`;
  if (d) return two(d, "d", h, "h");
  return h ? two(h, "h", m, "min") : two(m, "min", s % 60, "s");
}

// offset is how long after the run began something happened, in seconds to the microsecond.
export const offset = (ns) => `${ns < 0 ? "−" : "+"}${(Math.abs(ns) / 1e9).toFixed(6)}`;

// clock is the time of day of a stamp, to the microsecond.
export const clock = (stamp) => stamp.slice(11, 26);

export const day = (stamp) => `${stamp.slice(0, 10)} ${stamp.slice(11, 19)} UTC`;

export const qp = (n) => (n === undefined || n === null ? "?" : `0x${n.toString(16)}`);

export const psn = (n) => (n === undefined || n === null ? "" : `0x${n.toString(16).padStart(6, "0")}`);

// where names the node or address of an endpoint, as the text report does: lid:4 "H1" GUID 0x0000000000100003. Brief leaves out the GUID of a node that has a name.
function where(e, brief) {
  return [!e.route && e.address, e.node && JSON.stringify(e.node), e.node_guid && !(brief && e.node) && `GUID ${e.node_guid}`, e.route && `directed route ${e.route}`].filter(Boolean).join(" ");
}

// party names an endpoint: 10.0.0.1 QP 0x2f.
export function party(e, brief) {
  if (!e) return "";
  const known = e.qpn !== undefined && e.qpn !== null;
  return [where(e, brief), known && `QP ${qp(e.qpn)}`].filter(Boolean).join(" ");
}

export const showNames = { violation: "Violation", warning: "Warning", note: "Note", unproven: "Not proven", event: "Event" };
export const showPlural = { violation: "Violations", warning: "Warnings", note: "Notes", unproven: "Not proven", event: "Events" };
export const shows = Object.keys(showNames);
