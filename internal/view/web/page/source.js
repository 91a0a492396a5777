// Where the page has its data from: the server, or itself.

export function openSource() {
  const data = document.getElementById("data");
  return data ? embeddedSource(JSON.parse(data.textContent)) : serverSource();
}

function serverSource() {
  async function get(path, query) {
    const url = new URL(path, document.baseURI);
    for (const [k, v] of Object.entries(query || {})) if (v !== undefined && v !== "" && v !== null) url.searchParams.set(k, v);
    const answer = await fetch(url);
    if (!answer.ok) throw new Error((await answer.text()).trim().replace(/^web: /, ""));
    return answer.json();
  }
  return {
    embedded: false,
    summary: () => get("api/summary"),
    findings: (q) => get("api/findings", q),
    finding: (id) => get(`api/finding/${id}`),
    ladder: (id) => get(`api/finding/${id}/ladder`),
    incident: (number) => get(`api/incident/${number}/ladder`),
    connections: (q) => get("api/connections", q),
    connection: (id) => get(`api/connection/${id}`),
    messages: () => get("api/messages"),
    rules: () => get("api/rules"),
    // watch calls told with each new summary, and state with whether the server is there.
    watch(told, state) {
      let events;
      const open = () => {
        events = new EventSource(new URL("api/events", document.baseURI));
        events.addEventListener("open", () => state(true));
        events.addEventListener("error", () => state(false));
        events.addEventListener("summary", (e) => told(JSON.parse(e.data)));
      };
      open();
      // A browser that keeps a page it has left keeps its connection too, of which it has six for a server.
      addEventListener("pagehide", () => events.close());
      addEventListener("pageshow", (e) => e.persisted && open());
    },
  };
}

function embeddedSource(data) {
  const byID = new Map(data.findings.map((f) => [f.id, f]));
  const text = new Map();
  const words = (q) => (q || "").toLowerCase().split(/\s+/).filter(Boolean);
  const part = (list, q) => list.slice(q.offset || 0, (q.offset || 0) + (q.limit || 100));
  const name = (e) => (e ? [e.role, e.address, e.node, e.node_guid && `GUID ${e.node_guid}`, e.route && `directed route ${e.route}`, e.qpn === undefined ? "" : `0x${e.qpn.toString(16)}`].join(" ") : "");
  function searched(f) {
    if (!text.has(f.id)) {
      const psn = f.psn === undefined ? "" : `0x${f.psn.toString(16).padStart(6, "0")}`;
      text.set(f.id, [f.rule, f.name, f.show, name(f.accused), name(f.peer), f.expected, f.actual, f.detail, f.opcode, psn, `frame ${f.frame}`].join(" ").toLowerCase());
    }
    return text.get(f.id);
  }
  function takes(f, q, list) {
    return (
      (q.class ? q.class.split(",").includes(f.show) : f.show !== "event") &&
      (!q.rule || f.rule === q.rule) &&
      (!q.endpoint || f.accused?.address === q.endpoint || f.peer?.address === q.endpoint) &&
      list.every((w) => searched(f).includes(w))
    );
  }
  const laddered = (l) => ({ ...l, rows: l.rows.map((r) => ({ ...data.rows[r.row], skipped: r.skipped, at: r.at, from: r.from, mark: r.mark })) });
  const orders = {
    activity: (c) => c.rate,
    retransmissions: (c) => c.retransmissions,
    rnr: (c) => c.rnr_naks,
    packets: (c) => c.packets,
    bytes: (c) => c.bytes,
    first: (c) => -c.id,
  };
  return {
    embedded: true,
    summary: async () => data.summary,
    async findings(q) {
      const list = words(q.q);
      const found = data.findings.filter((f) => takes(f, q, list));
      if (q.order === "newest") found.reverse();
      return { total: found.length, times: found.reduce((sum, f) => sum + (f.count || 1), 0), newest: data.findings.length ? data.findings[data.findings.length - 1].id : 0, left: data.summary.left, items: part(found, q) };
    },
    async finding(id) {
      if (!byID.has(Number(id))) throw new Error("this finding is not in the file");
      return byID.get(Number(id));
    },
    async ladder(id) {
      if (!data.ladders[id]) throw new Error("the packets around this finding are not in the file; ibwitness check --web shows them for every finding");
      return laddered(data.ladders[id]);
    },
    async incident(number) {
      if (!data.incidents[number]) throw new Error("the packets of this incident are not in the file; ibwitness check --web shows them");
      return laddered(data.incidents[number]);
    },
    async connections(q) {
      const list = words(q.q);
      let found = data.connections.items.filter((c) => {
        const t = [c.service, c.encapsulation, name(c.ends[0]), name(c.ends[1])].join(" ").toLowerCase();
        return list.every((w) => t.includes(w));
      });
      const by = orders[q.sort]; // listed in the order of their trouble
      if (by) found = found.toSorted((a, b) => by(b) - by(a) || a.id - b.id);
      return { ...data.connections, total: found.length, items: part(found, q) };
    },
    async connection(id) {
      return data.numbers[id] || { ...data.connections.items.find((c) => c.id === id), step: data.connections.step };
    },
    messages: async () => data.messages,
    rules: async () => data.rules,
    watch() {},
  };
}
