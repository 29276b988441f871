// Small charts and tables beside the plane, as SVG and plain elements.

const space = "http://www.w3.org/2000/svg";
export function show(t, digits = 4) {
  if (t === null || t === undefined) return "–";
  const size = Math.abs(+t);
  if (size > 0 && (size < 1e-3 || size >= 1e7)) return (+t).toExponential(Math.min(digits - 1, 3)).replace(/\.?0*e\+?/, "e");
  return String(+Number(t).toPrecision(digits));
}

export function element(name, attributes = {}, text = "") {
  const node = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text) node.textContent = text;
  return node;
}

export function figures(list, pairs) {
  list.replaceChildren();
  for (const [name, value, kind] of pairs) {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = value;
    if (kind) dd.className = kind;
    list.append(dt, dd);
  }
}

// Lines over one axis; y on a log scale where asked. series: [{name, colour, points: [[x, y], …]}]
export function lines(svg, series, { log = false, label = "", x = "" } = {}) {
  const W = 280, H = 120, left = 44, bottom = 24, top = 14;
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  svg.replaceChildren();
  const all = series.flatMap((s) => s.points).filter(([, y]) => y !== null && (!log || y > 0));
  if (all.length < 1) return;
  const scale = (v) => log ? Math.log10(v) : v;
  let low = Math.min(...all.map((p) => scale(p[1]))), high = Math.max(...all.map((p) => scale(p[1])));
  if (!(high > low)) { low -= 0.5; high += 0.5; }
  const x0 = Math.min(...all.map((p) => p[0])), x1 = Math.max(...all.map((p) => p[0]), x0 + 1e-9);
  const at = ([a, b]) => [left + (a - x0) / (x1 - x0) * (W - left - 8), H - bottom - (scale(b) - low) / (high - low) * (H - bottom - top)];
  svg.append(element("path", { class: "axis", d: `M${left} ${top}V${H - bottom}H${W - 8}` }));
  for (const t of [low, (low + high) / 2, high]) {
    const y = H - bottom - (t - low) / (high - low) * (H - bottom - top);
    svg.append(element("text", { x: left - 4, y: y + 3, "text-anchor": "end" }, show(log ? 10 ** t : t, 2)));
  }
  svg.append(element("text", { x: left, y: H - 6 }, show(x0, 3)), element("text", { x: W - 8, y: H - 6, "text-anchor": "end" }, `${show(x1, 3)} ${x}`));
  svg.append(element("text", { x: left + 4, y: 10 }, label));
  let from = left + 110;
  for (const s of series) {
    const points = s.points.filter(([, y]) => y !== null && (!log || y > 0)).map(at);
    if (s.dots) for (const [a, b] of points) svg.append(element("circle", { cx: a.toFixed(1), cy: b.toFixed(1), r: 1.8, fill: s.colour }));
    else svg.append(element("polyline", { points: points.map((p) => p.map((t) => t.toFixed(1)).join(",")).join(" "), fill: "none", stroke: s.colour, "stroke-width": 1.8 }));
    if (s.name && points.length) {
      svg.append(element("text", { x: from, y: 10 }, s.name));
      svg.append(element("rect", { x: from - 11, y: 3, width: 8, height: 8, fill: s.colour }));
      from += 26 + 6 * s.name.length;
    }
  }
}

export function spectrum(svg, test) {
  const place = (v, k) => [k + 1, Math.max(Math.abs(v), 1e-16 * Math.abs(test.largest))];
  const rows = test.values.map((v, k) => ({ v, p: place(v, k) }));
  const pick = (keep) => rows.filter((r) => keep(r.v)).map((r) => r.p);
  lines(svg, [
    { colour: "var(--c0)", dots: true, points: pick((v) => v > test.tolerance) },
    { name: "negative", colour: "var(--bad)", dots: true, points: pick((v) => v < -test.tolerance) },
    { colour: "var(--line)", dots: true, points: pick((v) => Math.abs(v) <= test.tolerance) },
  ], { log: true, label: `|eigenvalue|, ${test.rows} rows` });
}

const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function ramp(t) {
  const place = Math.max(0, Math.min(1, t)) * 4, k = Math.min(3, Math.floor(place)), f = place - k;
  return stops[k].map((c, i) => Math.round(c + f * (stops[k + 1][i] - c)));
}

// Scores over two axes; a click, or Enter, trains the cell.
export function heatMap(svg, result, pick) {
  const [down, across] = result.axes, left = 52, top = 16, cell = 46, high = 26;
  const W = left + across.values.length * cell + 6, H = top + down.values.length * high + 34;
  svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
  svg.replaceChildren();
  const scores = result.points.map((p) => p.score).filter((s) => s !== null);
  const low = Math.min(...scores), range = Math.max(...scores) - low || 1;
  svg.append(element("text", { x: left, y: 11 }, `${result.measure}, 5 folds`));
  result.points.forEach((point, at) => {
    const i = Math.floor(at / across.values.length), j = at % across.values.length;
    let t = point.score === null ? 0 : (point.score - low) / range;
    if (!result.larger_is_better) t = 1 - t;
    const colour = point.score === null ? [128, 128, 128] : ramp(t);
    const light = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2] > 140;
    const x = left + j * cell, y = top + (down.values.length - 1 - i) * high;
    const g = element("g", { class: light ? "cell light" : "cell", tabindex: 0, role: "button",
      "aria-label": `${down.name} ${show(down.values[i])}, ${across.name} ${show(across.values[j])}: ${show(point.score)}` });
    g.append(element("rect", { x, y, width: cell - 1, height: high - 1, fill: `rgb(${colour})`,
      ...(at === result.best ? { stroke: "var(--bad)", "stroke-width": 3 } : {}) }));
    g.append(element("text", { x: x + cell / 2, y: y + high / 2 + 4, "text-anchor": "middle" }, show(point.score, 3)));
    g.addEventListener("click", () => pick(point));
    g.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); pick(point); } });
    svg.append(g);
  });
  down.values.forEach((v, i) => svg.append(element("text", { x: left - 5, y: top + (down.values.length - 1 - i) * high + 17, "text-anchor": "end" }, show(v, 3))));
  across.values.forEach((v, j) => svg.append(element("text", { x: left + (j + 0.5) * cell, y: H - 20, "text-anchor": "middle" }, show(v, 3))));
  svg.append(element("text", { x: left + across.values.length * cell / 2, y: H - 5, "text-anchor": "middle" }, across.name));
  svg.append(element("text", { x: 2, y: 11 }, down.name));
}

export function runsTable(body, runs, chosen, pick) {
  const known = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.run : null;
  body.replaceChildren();
  for (const run of [...runs].reverse()) {
    const row = document.createElement("tr");
    row.dataset.run = run.id;
    row.tabIndex = 0;
    row.setAttribute("aria-selected", run.id === chosen);
    const settings = Object.entries(run.settings).map(([k, v]) => `${k} ${show(v, 3)}`).join(", ");
    const proof = run.verified === true ? "verified" : run.verified === false ? "broken" : run.bracketed ? "bracket" : run.status;
    const cells = [run.id, run.task, run.kernel, settings + (run.source === "trained" ? "" : run.source), run.support, show(run.dual, 6),
      run.gap === null ? "–" : Number(run.gap).toExponential(1), proof, show(run.seconds, 2)];
    cells.forEach((text, k) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      if (k === 2) cell.className = "kernel";
      if (k === 7) cell.className = run.verified === true ? "good" : run.verified === false ? "bad" : "";
      row.append(cell);
    });
    row.addEventListener("click", () => pick(run.id));
    row.addEventListener("keydown", (e) => { if (e.key === "Enter") pick(run.id); });
    body.append(row);
    if (known === String(run.id)) row.focus();
  }
}
