// Elements are made from text, never from markup: what stands in a capture cannot become part of the page.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [type, f] of Object.entries(value)) node.addEventListener(type, f);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

export function el(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

export function replace(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
}

// say has a screen reader tell something.
export function say(text) {
  document.getElementById("said").textContent = text;
}

// debounce returns a function that runs f when it was not called for a while, and one that drops what is still to run.
export function debounce(f, wait) {
  let timer = 0;
  const drop = () => clearTimeout(timer);
  return [() => {
    drop();
    timer = setTimeout(f, wait);
  }, drop];
}
