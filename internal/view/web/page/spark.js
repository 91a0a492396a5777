import { svg } from "./dom.js";

// spark draws a history as a small area; top is the value that it is scaled to, where it is not the largest of its own, and n how many points there is room for.
export function spark(list, kind, name, top, n = 60) {
  const w = 90, h = 22;
  const node = svg("svg", { class: `spark k-${kind}`, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": name }, svg("line", { class: "spark-none", x1: 0, x2: w, y1: h - 0.5, y2: h - 0.5 }));
  if (!list || !list.length || !list.some(Boolean)) return node;
  const most = top || Math.max(...list);
  const x = (i) => ((n - list.length + i + 0.5) * w) / n;
  const y = (v) => h - 1 - (Math.min(v / most, 1) * (h - 3));
  if (kind === "rate") {
    const line = list.map((v, i) => `${x(i).toFixed(1)},${y(v).toFixed(1)}`).join(" ");
    node.append(svg("polygon", { class: "spark-area", points: `${x(0).toFixed(1)},${h - 1} ${line} ${x(list.length - 1).toFixed(1)},${h - 1}` }), svg("polyline", { class: "spark-line", points: line }));
  } else {
    list.forEach((v, i) => v > 0 && node.append(svg("rect", { x: (x(i) - 0.6).toFixed(1), width: 1.2, y: y(v).toFixed(1), height: Math.max(1, h - 1 - y(v)).toFixed(1) })));
  }
  return node;
}
