// The state of the page stands in the part of its address behind #, so that it can be kept and passed on: #findings?rule=RC-RSP-043&id=7.

const viewNames = ["findings", "connections", "messages", "rules"];

export function readState() {
  const [view, query] = location.hash.slice(1).split("?");
  return { view: viewNames.includes(view) ? view : "findings", ...Object.fromEntries(new URLSearchParams(query || "")) };
}

export function writeState(state, push) {
  const { view, ...rest } = state;
  const query = new URLSearchParams(Object.entries(rest).filter(([, v]) => v !== undefined && v !== "" && v !== null));
  const hash = `#${view}${query.size ? `?${query}` : ""}`;
  if (hash === location.hash) return;
  history[push ? "pushState" : "replaceState"](null, "", hash);
}
