// Rows as what they are: letters, graphs and small pictures.
import { element } from "./panels.js";
import { classColour } from "./plane.js";

// Places of nodes: from a circle, pushed apart and pulled along edges (Fruchterman and Reingold 1991).
function layout(n, edges) {
  const at = Array.from({ length: n }, (_, i) => [Math.cos(2 * Math.PI * i / n), Math.sin(2 * Math.PI * i / n)]);
  const wanted = Math.sqrt(4 / Math.max(1, n));
  for (let round = 0; round < 120; round++) {
    const push = at.map(() => [0, 0]);
    const move = (i, j, size) => {
      const dx = at[i][0] - at[j][0], dy = at[i][1] - at[j][1], d = Math.hypot(dx, dy) || 1e-6, f = size(d) / d;
      push[i][0] += dx * f; push[i][1] += dy * f; push[j][0] -= dx * f; push[j][1] -= dy * f;
    };
    for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) move(i, j, (d) => wanted * wanted / d);
    for (const [i, j] of edges) move(i, j, (d) => -d * d / wanted);
    const heat = 0.2 * (1 - round / 120);
    for (let i = 0; i < n; i++) {
      const d = Math.hypot(...push[i]) || 1, step = Math.min(d, heat) / d;
      at[i][0] += push[i][0] * step; at[i][1] += push[i][1] * step;
    }
  }
  const low = [0, 1].map((k) => Math.min(...at.map((p) => p[k]))), high = [0, 1].map((k) => Math.max(...at.map((p) => p[k])));
  const size = Math.max(high[0] - low[0], high[1] - low[1], 1e-6);
  return at.map((p) => p.map((v, k) => 8 + 84 * ((v - (low[k] + high[k]) / 2) / size + 0.5)));
}

function drawGraph(part) {
  const svg = element("svg", { viewBox: "0 0 100 100", class: "structure", role: "img", "aria-label": `graph of ${part.all} nodes${part.whole ? "" : `, ${part.nodes} shown`}` });
  const at = layout(part.nodes, part.edges);
  for (const [i, j] of part.edges) svg.append(element("line", { x1: at[i][0].toFixed(1), y1: at[i][1].toFixed(1), x2: at[j][0].toFixed(1), y2: at[j][1].toFixed(1), class: "edge" }));
  at.forEach(([x, y], i) => {
    const node = element("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: part.nodes > 30 ? 2.4 : 4, fill: classColour(part.labels.length ? part.labels[i] : 0) });
    if (part.kind === "node" && i === 0) node.setAttribute("class", "self");
    if (part.labels.length) node.append(element("title", {}, `label ${part.labels[i]}`));
    svg.append(node);
  });
  return svg;
}

function drawPicture(part) {
  const canvas = document.createElement("canvas"), side = part.side;
  canvas.width = canvas.height = side;
  canvas.className = "structure picture";
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `picture of ${side} by ${side}`);
  const low = Math.min(...part.values), width = Math.max(...part.values) - low || 1, pen = canvas.getContext("2d"), image = pen.createImageData(side, side);
  part.values.forEach((v, k) => { const t = 255 - Math.round(255 * (v - low) / width); image.data.set([t, t, t, 255], 4 * k); });
  pen.putImageData(image, 0, 0);
  return canvas;
}

// Sequences over few letters get a colour a letter; other texts are words.
function drawText(part) {
  const box = document.createElement("span"), letters = [...new Set(part.text)].sort();
  const sequence = part.text.length > 3 && letters.length <= 25 && !part.text.includes(" ") && letters.length < part.text.length;
  box.className = sequence ? "structure sequence" : "structure words";
  if (!sequence) box.textContent = part.text + (part.whole ? "" : " …");
  else {
    for (const run of part.text.match(/(.)\1*/gsu)) {
      const piece = document.createElement("span");
      piece.textContent = run;
      piece.style.color = classColour(letters.indexOf(run[0]));
      box.append(piece);
    }
    if (!part.whole) box.append(" …");
  }
  return box;
}

export const drawPart = (part) => part.kind === "text" ? drawText(part) : part.kind === "picture" ? drawPicture(part) : drawGraph(part);

// Cards of rows; a card shows what the machine makes of its row.
export function showStructures(box, rows, pick) {
  box.replaceChildren(...rows.map((r) => {
    const card = document.createElement("button"), name = document.createElement("small");
    card.className = "card";
    card.dataset.row = r.row;
    name.textContent = `row ${r.row + 1}${r.label ? `: ${r.label}` : ""}`;
    card.append(...r.parts.map(drawPart), name);
    card.onclick = () => pick(r.row);
    return card;
  }));
}
