// The bench: everything known stands in the server; this shows it and asks for more.
import { Plane, classColour } from "./plane.js";
import { Lecture } from "./lecture.js";
import { drawPart, showStructures } from "./structures.js";
import { figures, heatMap, lines, runsTable, show, spectrum } from "./panels.js";

const $ = (id) => document.getElementById(id);
const plane = new Plane($("plane"));
let state = null, chosen = 0, table = 0, painted = [], brush = 0, job = 0, copyKind = "command", projection = null, tuned = 0;

function say(text, bad = false) {
  $("status").textContent = text;
  $("status").className = bad ? "bad" : "";
}

async function ask(path, body) {
  try {
    const reply = await fetch(path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const json = await reply.json();
    if (!reply.ok) { say(json.error || reply.statusText, true); return null; }
    return json;
  } catch { say("the studio does not answer; is 'mercer studio' still running?", true); return null; }
}

function options(select, list, value) {
  select.replaceChildren(...list.map(([v, text]) => { const o = document.createElement("option"); o.value = v; o.textContent = text; return o; }));
  if (value !== undefined && list.some(([v]) => String(v) === String(value))) select.value = value;
}

const remember = (key, value) => { try { sessionStorage.setItem(key, value); } catch { /* none */ } };
const recall = (key) => { try { return sessionStorage.getItem(key); } catch { return null; } };

// Data ------------------------------------------------------------------------------------------
function showData() {
  const d = state.data;
  table = d.number;
  $("structures-section").hidden = !d.structured; // at once: cards of the rows before are never shown beside new ones
  $("data-about").textContent = `${d.name}: ${d.rows} rows, ${d.objects.length ? d.objects.map((k) => `one ${k}`).join(", ") : `${d.columns.length} columns`}${d.classes.length ? `, ${d.classes.length} classes` : ""}`;
  const columns = d.columns.map((name, k) => [k, name]);
  options($("axis-x"), [...columns, ["pca", "kernel PCA 1"]], $("axis-x").value || 0);
  options($("axis-y"), [...columns, ["pca", "kernel PCA 2"]], $("axis-y").value || 1);
  if (d.columns.length > 1 && $("axis-x").value === $("axis-y").value && $("axis-x").value !== "pca") $("axis-y").value = (+$("axis-x").value + 1) % d.columns.length;
  if (!d.columns.length) $("axis-x").value = $("axis-y").value = "pca";
  else if (usualKernel) { $("axis-x").value = 0; $("axis-y").value = Math.min(1, d.columns.length - 1); usualKernel = ""; }
  plane.numbers = d.labelled && !d.classes.length;
  $("legend").replaceChildren(...d.classes.slice(0, 12).map((name, c) => {
    const item = document.createElement("span");
    item.textContent = `${c % 2 ? "■" : "●"} ${name}`;
    item.style.color = classColour(c);
    return item;
  }));
}

async function showPoints() {
  if ($("axis-x").value === "pca" || $("axis-y").value === "pca") {
    projection = await ask("/api/projection", { kernel: $("kernel").value });
    if (!projection) return;
  } else projection = null;
  const at = projection ? "" : `?first=${$("axis-x").value || 0}&second=${$("axis-y").value || 1}`;
  const points = await ask(`/api/points${at}`);
  if (!points) return;
  if (projection) { points.x = projection.x; points.y = projection.y; }
  plane.points = points;
  plane.chosen = -1;
  await showView();
  showRows();
}

async function showRows() {
  const shown = state.data.structured ? await ask("/api/structures") : null;
  if (shown) showStructures($("structures"), shown.rows, showPoint);
}

// A kernel that the rows have a value for, where the one typed is of numbers; and back.
let usualKernel = "";
function suitKernel() {
  if (state.data.columns.length || !state.data.objects.length) { if (usualKernel) $("kernel").value = usualKernel; return; }
  const own = { text: "normalize(spectrum(k=3))", graph: "normalize(wl(iterations=3))", node: "diffusion(beta=0.5)" }[state.data.objects[0]];
  if (/^(rbf|linear|polynomial|laplacian)\b/.test($("kernel").value)) { usualKernel = $("kernel").value; $("kernel").value = own; }
}

async function useData(body) {
  say("loading …");
  const next = await ask("/api/data", body);
  if (!next) return;
  state = next;
  chosen = 0;
  plane.view = null;
  plane.witness = null;
  const numbers = state.data.labelled && !state.data.classes.length;
  if (numbers !== ["svr", "nu-svr", "ridge", "gp"].includes($("task").value)) { $("task").value = numbers ? "svr" : "svc"; showSettings(); }
  suitKernel();
  showData();
  showRuns();
  say(`${state.data.name} is loaded`);
  await showPoints();
  tryKernel();
}

async function takeFile(file) {
  if (!file) return;
  if (file.size > 40e6) return say(`${file.name} has ${Math.round(file.size / 1e6)} MB; the page takes 40. Start 'mercer studio ${file.name}' instead`, true);
  const head = new Uint8Array(await file.slice(0, 16).arrayBuffer());
  if (file.name.endsWith(".mercer") || (head[7] === 0 && head[8] === 0x7b)) {
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = "";
    for (let k = 0; k < bytes.length; k += 32768) text += String.fromCharCode(...bytes.subarray(k, k + 32768));
    const opened = await ask("/api/open", { name: file.name, base64: btoa(text) });
    if (opened) { say(`${file.name} is opened as run ${opened.run}`); await refresh(); pickRun(opened.run); }
    return;
  }
  setPaint(false);
  await useData({ source: "text", name: file.name, text: await file.text() });
}

function setPaint(on) {
  $("paint").setAttribute("aria-pressed", on);
  $("brushes").hidden = !on;
  plane.onPaint = on ? (x, y) => { painted.push([x, y, brush]); usePainted(); } : null;
  if (on) { plane.points = paintedPoints(); plane.view = null; plane.witness = null; }
  plane.draw();
}
const paintedPoints = () => ({ x: painted.map((p) => p[0]), y: painted.map((p) => p[1]), label: painted.map((p) => p[2]), row: painted.map((_, i) => i) });
let paintTimer = 0;
function usePainted() {
  remember("painted", JSON.stringify(painted));
  plane.points = paintedPoints();
  plane.view = null;
  plane.draw();
  if (lecture.active) return lecture.restart();
  clearTimeout(paintTimer);
  if (painted.length > 1) paintTimer = setTimeout(() => useData({ source: "paint", x: painted.map((p) => [p[0], p[1]]), y: painted.map((p) => p[2]) }), 250);
}

// Kernel ----------------------------------------------------------------------------------------
let kernelTicket = 0;
async function tryKernel() {
  const ticket = ++kernelTicket;
  remember("kernel", $("kernel").value);
  const found = await ask("/api/kernel", { kernel: $("kernel").value });
  if (!found || ticket !== kernelTicket) return;
  $("kernel-error").hidden = !found.error;
  $("kernel-error").textContent = found.error || "";
  $("verdict").textContent = found.ok ? found.verdict : "not a kernel expression";
  $("verdict").className = `badge ${!found.ok || found.refuted ? "bad" : found.positive ? "good" : "unknown"}`;
  const witness = found.test && found.test.witness;
  $("witness").hidden = !witness;
  if (witness) {
    const order = witness.a.map((a, i) => [Math.abs(a), witness.rows[i], a]).sort((p, q) => q[0] - p[0]).slice(0, 3);
    $("witness").textContent = `Indefinite on these rows. Witness: a′Ka = ${show(witness.value)} for a of length 1, largest at ${order.map((o) => `row ${o[1] + 1} (${show(o[2], 2)})`).join(", ")}; ringed on the plane.`;
  }
  plane.witness = witness ? new Map(witness.rows.map((r, i) => [r, witness.a[i]])) : null;
  plane.draw();
  $("reasons").replaceChildren(...(found.reasons || []).map((r) => {
    const line = document.createElement("div"), part = document.createElement("code"), why = document.createElement("span");
    line.style.marginLeft = `${10 * r.depth}px`;
    part.textContent = r.part;
    why.textContent = ` ${r.verdict}: ${r.because}`;
    line.append(part, why);
    return line;
  }));
  if (found.test) spectrum($("spectrum"), found.test); else $("spectrum").replaceChildren();
}

// Training --------------------------------------------------------------------------------------
function showSettings() {
  const task = state.tasks.find((t) => t.name === $("task").value);
  $("settings").replaceChildren(...task.settings.map((s) => {
    const label = document.createElement("label"), input = document.createElement("input");
    label.textContent = s.name;
    label.title = `${s.about}; ${s.range}`;
    input.type = "number"; input.step = "any"; input.value = s.name === "C" && task.name === "svc" ? 10 : s.value; input.dataset.name = s.name;
    input.addEventListener("keydown", (e) => { if (e.key === "Enter") train(); });
    label.append(input);
    return label;
  }));
}
const recipe = () => ({
  task: $("task").value, kernel: $("kernel").value, scale: $("scale").value,
  settings: Object.fromEntries([...$("settings").querySelectorAll("input")].map((i) => [i.dataset.name, +i.value])),
});
async function train(asked = recipe()) {
  const begun = await ask("/api/train", asked);
  if (begun) { job = begun.job; say("training …"); }
}

function showJob() {
  const last = state.jobs.filter((j) => j.id === job)[0] || state.jobs[state.jobs.length - 1];
  const busy = state.jobs.some((j) => j.state === "running" || j.state === "waiting");
  $("stop").disabled = !busy;
  if (!last) return;
  const m = last.moment;
  $("moment").textContent = last.state === "running"
    ? last.kind === "tune" ? `searching ${m.fraction > 0 ? Math.round(100 * m.fraction) : 0} %` : `${show(m.steps)} steps, gap ${show(m.gap, 2)}`
    : last.state;
  if (last.kind === "train" && last.curve.length) {
    lines($("gap"), [
      { name: "gap", colour: "var(--accent)", points: last.curve.map((c) => [c[0] || 0, c[1]]) },
      { name: "violation", colour: "var(--c1)", points: last.curve.map((c) => [c[0] || 0, c[2]]) },
    ], { log: true, label: "primal − dual", x: "s" });
  }
  if (last.state === "failed") say(last.error, true);
  if (last.id === job && last.result && last.result.run) { job = 0; say(`run ${last.result.run} is trained`); pickRun(last.result.run); }
  const map = state.jobs.filter((j) => j.kind === "tune" && j.result).pop();
  if (map && map.id !== tuned) {
    tuned = map.id;
    say("the map is drawn; a cell trains");
    heatMap($("map"), map.result, (point) => train({ task: map.result.task, scale: map.result.scale, kernel: point.kernel, settings: point.settings }));
  }
}

// Runs ------------------------------------------------------------------------------------------
function showRuns() {
  runsTable($("runs").tBodies[0], state.runs, chosen, pickRun);
  const run = state.runs.find((r) => r.id === chosen);
  $("run-name").textContent = run ? run.id : "";
  $("verify").disabled = !run;
  for (const id of ["save-model", "save-picture"]) $(id).hidden = !run;
  if (!run) { figures($("certificate"), [["no run yet", ""]]); $("verified").textContent = ""; $("copied").textContent = ""; return; }
  $("save-model").href = `/api/model?run=${run.id}`;
  $("save-picture").href = `/api/picture?run=${run.id}&first=${+$("axis-x").value || 0}&second=${+$("axis-y").value || 1}`;
  figures($("certificate"), [
    ["kernel", run.kernel], ["status", run.status],
    ...(run.bracketed ? [["primal", show(run.primal, 8)], ["dual", show(run.dual, 8)], ["relative gap", show(run.gap, 3)]]
      : [["objective", show(run.dual, 8)], ["", "no bracket: the kernel is not known to be positive definite here, or the machine has none", "bad"]]),
    ["KKT violation", show(run.violation, 3)], ["support vectors", run.support], ...(run.margin ? [["margin", show(run.margin)]] : []), ["data", run.data || "–"],
  ]);
  $("verified").textContent = run.verified === true ? "✓ recomputed from model and data: the certificate holds" : run.verified === false ? "✗ the certificate does not hold" : "";
  $("verified").className = run.verified ? "good" : "bad";
}

async function pickRun(id) {
  chosen = id;
  remember("run", id);
  showRuns();
  await showView();
  copies();
}

async function showView() {
  const run = state.runs.find((r) => r.id === chosen);
  plane.view = null;
  if (run && run.table === table && !projection && !lecture.active) {
    const view = await ask(`/api/view?run=${chosen}&first=${$("axis-x").value || 0}&second=${$("axis-y").value || 1}`);
    if (view && view.kind !== "none") plane.view = view;
  } else if (run && projection) plane.view = { kind: "points", support: [] };
  plane.draw();
}

async function showPoint(row) {
  const run = state.runs.find((r) => r.id === chosen);
  $("point-parts").replaceChildren();
  if (!run || run.table !== table) return figures($("point"), [["row", row + 1], ["", "train a machine to see what it makes of it"]]);
  const p = await ask(`/api/point?run=${chosen}&row=${row}`);
  if (!p) return;
  $("point-parts").replaceChildren(...p.parts.map(drawPart));
  figures($("point"), [
    ["row", p.row + 1], ...(p.values.length ? [["values", p.values.slice(0, 8).map((v) => show(v, 4)).join(", ") + (p.values.length > 8 ? ", …" : "")]] : []),
    ...(p.label ? [["label", p.label]] : []), ["predicted", p.predicted, p.label && p.label !== p.predicted && !plane.numbers ? "bad" : ""],
    ["decision", p.decision.map((v) => show(v)).join(", ")],
    ["α", p.alpha.length ? p.alpha.map((v) => show(v)).join(", ") : "0: no support vector"],
    ...(p.slack !== undefined ? [["slack ξ", show(p.slack)]] : []),
    ["nearest support vectors", p.nearest.map((n) => `${n.row === null ? "?" : `row ${n.row + 1}`} at ${show(n.distance, 3)}`).join("; ")],
  ]);
}

async function copies() {
  const run = state.runs.find((r) => r.id === chosen);
  if (!run || run.source !== "trained") { $("copied").textContent = ""; return; }
  const all = await ask(`/api/copies?run=${chosen}`);
  if (!all) return;
  $("copied").textContent = all[copyKind] || "this machine has no class of its own in Python; the command line trains it";
  for (const button of $("copies").children) button.setAttribute("aria-pressed", button.dataset.kind === copyKind);
}

async function refresh() {
  const next = await ask("/api/state");
  if (next) { state = next; showRuns(); showJob(); }
}

// ------------------------------------------------------------------------------------------------
const lecturePoints = () => painted.length > 1 ? painted
  : plane.points.x.slice(0, 200).map((x, i) => [x, plane.points.y[i], plane.points.label[i] > 0 ? 1 : 0]);
const lecture = new Lecture(plane, ask, () => lecturePoints());
function mode(name) {
  document.body.classList.toggle("lecture", name === "lecture");
  for (const m of ["bench", "lecture"]) $(`mode-${m}`).setAttribute("aria-pressed", m === name);
  plane.alpha = null;
  plane.moved = [];
  if (name === "lecture") { const p = lecturePoints(); plane.points = { x: p.map((t) => t[0]), y: p.map((t) => t[1]), label: p.map((t) => t[2]), row: p.map((_, i) => i) }; lecture.restart(); }
  else { lecture.pause(); showPoints(); }
}

async function begin() {
  state = await ask("/api/state");
  if (!state) return;
  options($("sample"), [...state.samples.map((s) => [s, s]), ["@iris", "iris (built in)"], ["@digits", "digits (built in)"]], "moons");
  options($("task"), state.tasks.map((t) => [t.name, t.name]), "svc");
  $("by-name").hidden = !state.root;
  if (recall("kernel")) $("kernel").value = recall("kernel");
  try { painted = JSON.parse(recall("painted") || "[]"); } catch { painted = []; }
  suitKernel();
  showSettings();
  showData();
  const known = +recall("run");
  chosen = state.runs.some((r) => r.id === known) ? known : state.runs.length ? state.runs[state.runs.length - 1].id : 0;
  showRuns();
  showJob();
  await showPoints();
  copies();
  tryKernel();
  const events = new EventSource("/api/events");
  events.onmessage = async (e) => {
    const news = JSON.parse(e.data);
    state.jobs = news.jobs;
    state.runs = news.runs;
    if (news.table !== table && $("brushes").hidden) { await refresh(); showData(); await showPoints(); }
    showRuns();
    showJob();
  };
}

plane.onPick = showPoint;
$("load").onclick = () => { setPaint(false); const s = $("sample").value; useData(s[0] === "@" ? { source: "embedded", name: s.slice(1) } : { source: "make", name: s, n: +$("sample-n").value, noise: +$("sample-noise").value }); };
$("file").onchange = (e) => takeFile(e.target.files[0]);
$("open-name").onclick = () => useData({ source: "file", name: $("file-name").value });
for (const [name, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
  document.addEventListener(name, (e) => { e.preventDefault(); $("drop").classList.toggle("over", over); if (name === "drop") takeFile(e.dataTransfer.files[0]); });
}
$("axis-x").onchange = () => { if ($("axis-x").value === "pca") $("axis-y").value = "pca"; else if ($("axis-y").value === "pca") $("axis-y").value = $("axis-x").value === "0" ? 1 : 0; showPoints(); };
$("axis-y").onchange = () => { if ($("axis-y").value === "pca") $("axis-x").value = "pca"; else if ($("axis-x").value === "pca") $("axis-x").value = $("axis-y").value === "0" ? 1 : 0; showPoints(); };
let typing = 0;
$("kernel").oninput = () => { clearTimeout(typing); typing = setTimeout(tryKernel, 200); };
$("kernel").onkeydown = (e) => { if (e.key === "Enter") { tryKernel(); if (!lecture.active) train(); } };
$("task").onchange = showSettings;
$("train").onclick = () => train();
$("stop").onclick = () => { for (const j of state.jobs) if (j.state === "running" || j.state === "waiting") ask("/api/stop", { job: j.id }); };
$("tune").onclick = async () => { const begun = await ask("/api/tune", { ...recipe(), settings: {}, grid: [$("grid-y").value, $("grid-x").value] }); if (begun) { job = begun.job; say("searching …"); } };
$("verify").onclick = async () => { say("verifying …"); const v = await ask("/api/verify", { run: chosen }); if (v) { say(v.holds ? `run ${chosen}: the certificate holds` : `run ${chosen}: the certificate is broken`, !v.holds); await refresh(); } };
$("paint").onclick = () => setPaint($("brushes").hidden);
$("clear").onclick = () => { painted = []; usePainted(); };
for (const button of document.querySelectorAll(".brush")) button.onclick = () => { brush = +button.dataset.class; for (const b of document.querySelectorAll(".brush")) b.setAttribute("aria-pressed", b === button); };
for (const button of $("copies").children) button.onclick = async () => { copyKind = button.dataset.kind; await copies(); try { await navigator.clipboard.writeText($("copied").textContent); say("copied"); } catch { getSelection().selectAllChildren($("copied")); say("selected; press Ctrl-C to copy"); } };
$("mode-bench").onclick = () => mode("bench");
$("mode-lecture").onclick = () => mode("lecture");
$("theme").onclick = () => { const dark = matchMedia("(prefers-color-scheme: dark)").matches, now = document.documentElement.dataset.theme || (dark ? "dark" : "light"); document.documentElement.dataset.theme = now === "dark" ? "light" : "dark"; showData(); plane.draw(); };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (state) showData(); plane.draw(); });
begin();
