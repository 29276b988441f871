// The plane: what a machine makes of two columns, the rows, and which of them is chosen.

const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
export const classColour = (c) => ink(`--c${((c % 8) + 8) % 8}`);

export class Plane {
  constructor(canvas) {
    this.canvas = canvas;
    this.points = { x: [], y: [], label: [], row: [] };
    this.view = null;
    this.chosen = -1;
    this.alpha = null;    // sizes of points, in a lecture
    this.moved = [];
    this.witness = null;  // weights by row
    this.numbers = false; // labels are numbers, not classes
    this.onPick = () => {};
    this.onPaint = null;
    canvas.addEventListener("click", (e) => this.click(e));
    canvas.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  window() {
    const v = this.view;
    if (v && v.left !== undefined) return v;
    if (this.onPaint) return { left: -3, right: 3, bottom: -2.25, top: 2.25 };
    const reach = (a, more = []) => {
      const all = a.concat(more).filter((t) => t !== null);
      let low = Math.min(...all), high = Math.max(...all);
      if (!(high > low)) { low -= 1; high += 1; }
      const room = 0.12 * (high - low);
      return [low - room, high + room];
    };
    if (!this.points.x.length) return { left: 0, right: 1, bottom: 0, top: 1 };
    const [left, right] = reach(this.points.x);
    const [bottom, top] = reach(this.points.y, v && v.kind === "curve" ? v.y : []);
    return { left, right, bottom, top };
  }

  place(x, y) {
    const w = this.window(), { width, height } = this.size;
    return [(x - w.left) / (w.right - w.left) * width, height - (y - w.bottom) / (w.top - w.bottom) * height];
  }

  draw() {
    const dots = window.devicePixelRatio || 1;
    const box = this.canvas.getBoundingClientRect();
    if (!box.width) return;
    this.size = { width: box.width, height: box.height };
    this.canvas.width = Math.round(box.width * dots);
    this.canvas.height = Math.round(box.height * dots);
    const g = this.canvas.getContext("2d");
    g.fillStyle = ink("--ground");
    g.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.view && this.view.values) this.field(g);
    g.setTransform(dots, 0, 0, dots, 0, 0);
    this.ticks(g);
    if (this.view && this.view.kind === "curve") this.curve(g);
    this.rows(g);
  }

  // Colours by value, border and margins where signs change.
  field(g) {
    const v = this.view, n = v.size, W = this.canvas.width, H = this.canvas.height;
    const image = g.createImageData(W, H), data = image.data;
    const ground = rgb(ink("--ground")), dark = rgb(ink("--ink"));
    const colours = [...Array(8).keys()].map((c) => rgb(classColour(c)));
    const finite = v.values.filter((t) => t !== null);
    let low = Infinity, high = -Infinity;
    for (const t of finite) { if (t < low) low = t; if (t > high) high = t; }
    const f = new Float32Array(W * H);
    for (let y = 0; y < H; y++) {
      const r = (1 - y / (H - 1)) * (n - 1), i = Math.min(n - 2, Math.floor(r)), a = r - i;
      for (let x = 0; x < W; x++) {
        const c = x / (W - 1) * (n - 1), j = Math.min(n - 2, Math.floor(c)), b = c - j;
        const at = i * n + j;
        f[y * W + x] = v.kind === "classes" ? v.values[Math.round(r) * n + Math.round(c)]
          : (1 - a) * ((1 - b) * v.values[at] + b * v.values[at + 1]) + a * ((1 - b) * v.values[at + n] + b * v.values[at + n + 1]);
      }
    }
    for (let k = 0; k < W * H; k++) {
      const t = f[k];
      let colour, part;
      if (v.kind === "classes") { colour = colours[t % 8]; part = 0.25; }
      else if (v.kind === "two") { colour = colours[t >= 0 ? 0 : 1]; part = 0.12 + 0.22 * Math.min(1, Math.abs(t)); }
      else if (v.kind === "region") { colour = colours[t >= 0 ? 0 : 6]; part = t >= 0 ? 0.28 : 0.1 + 0.04 * Math.floor(6 * t / low); }
      else { colour = colours[0]; part = 0.08 + 0.6 * Math.floor(10 * (t - low) / (high - low || 1)) / 10; }
      const x = k % W, y = (k - x) / W;
      const right = x + 1 < W ? f[k + 1] : t, below = y + 1 < H ? f[k + W] : t;
      const crosses = (level) => (t >= level) !== (right >= level) || (t >= level) !== (below >= level);
      if (v.kind === "classes" ? t !== right || t !== below : v.kind !== "values" && crosses(0)) { colour = dark; part = 0.9; }
      else if (v.margin && (x + y) % 14 < 8 && (crosses(1) || crosses(-1))) { colour = dark; part = 0.65; }
      for (let c = 0; c < 3; c++) data[4 * k + c] = ground[c] + part * (colour[c] - ground[c]);
      data[4 * k + 3] = 255;
    }
    g.putImageData(image, 0, 0);
  }

  ticks(g) {
    const w = this.window(), { width, height } = this.size;
    g.fillStyle = ink("--soft");
    g.font = "11px system-ui, sans-serif";
    const step = (low, high) => {
      const raw = (high - low) / 5, p = 10 ** Math.floor(Math.log10(raw));
      return [1, 2, 5, 10].map((d) => d * p).find((s) => s >= raw);
    };
    const text = (t) => String(+t.toPrecision(6));
    const sx = step(w.left, w.right), sy = step(w.bottom, w.top);
    g.textAlign = "center";
    for (let t = Math.ceil(w.left / sx) * sx; t <= w.right; t += sx) {
      const [x] = this.place(t, 0);
      g.fillRect(x, height - 4, 1, 4);
      if (x > 16 && x < width - 16) g.fillText(text(t), x, height - 8);
    }
    g.textAlign = "left";
    for (let t = Math.ceil(w.bottom / sy) * sy; t <= w.top; t += sy) {
      const [, y] = this.place(0, t);
      g.fillRect(0, y, 4, 1);
      if (y > 12 && y < height - 18) g.fillText(text(t), 8, y + 4);
    }
  }

  curve(g) {
    const v = this.view, at = v.x.map((x, k) => this.place(x, v.y[k]));
    if (v.tube) {
      g.beginPath();
      v.x.forEach((x, k) => g.lineTo(...this.place(x, v.y[k] + v.tube)));
      [...v.x.keys()].reverse().forEach((k) => g.lineTo(...this.place(v.x[k], v.y[k] - v.tube)));
      g.fillStyle = ink("--c0");
      g.globalAlpha = 0.2;
      g.fill();
      g.globalAlpha = 1;
    }
    g.beginPath();
    at.forEach((p) => g.lineTo(...p));
    g.strokeStyle = ink("--c0");
    g.lineWidth = 2;
    g.stroke();
  }

  rows(g) {
    const p = this.points, support = new Set(this.view && this.view.support || []);
    const many = p.x.length > 1200;
    const most = this.alpha ? Math.max(1e-12, ...this.alpha) : 1;
    p.x.forEach((x, i) => {
      const [a, b] = this.place(x, p.y[i]);
      const size = this.alpha ? 3.2 + 6 * this.alpha[i] / most : many ? 2 : 3.6;
      g.fillStyle = this.numbers ? ink("--soft") : classColour(p.label[i]);
      g.beginPath();
      if (!this.numbers && p.label[i] % 2 === 1) g.rect(a - size * 0.9, b - size * 0.9, 1.8 * size, 1.8 * size);
      else g.arc(a, b, size, 0, 7);
      g.fill();
      g.lineWidth = 0.7;
      g.strokeStyle = ink("--paper");
      g.stroke();
      if (support.has(p.row[i])) this.ring(g, a, b, size + 2.6, "--ink", 1.3);
      const weight = this.witness && this.witness.get(p.row[i]);
      if (weight) this.ring(g, a, b, 4 + 14 * Math.abs(weight), "--bad", 2);
      if (this.moved.includes(p.row[i])) this.ring(g, a, b, size + 5, "--bad", 2.4);
      if (i === this.chosen) this.ring(g, a, b, size + 5.5, "--accent", 2.6);
    });
  }

  ring(g, x, y, radius, colour, width) {
    g.beginPath();
    g.arc(x, y, radius, 0, 7);
    g.strokeStyle = ink(colour);
    g.lineWidth = width;
    g.stroke();
  }

  click(e) {
    const x = e.offsetX, y = e.offsetY, w = this.window(), { width, height } = this.size;
    if (this.onPaint) {
      this.onPaint(w.left + x / width * (w.right - w.left), w.top - y / height * (w.top - w.bottom));
      return;
    }
    let best = -1, least = 15 ** 2;
    this.points.x.forEach((px, i) => {
      const [a, b] = this.place(px, this.points.y[i]);
      const d = (a - x) ** 2 + (b - y) ** 2;
      if (d < least) { least = d; best = i; }
    });
    if (best >= 0) this.choose(best);
  }

  key(e) {
    const count = this.points.x.length;
    if (!count) return;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (step && !document.body.classList.contains("lecture")) {
      e.preventDefault();
      this.choose((this.chosen + step + count) % count);
    } else if (e.key === "Enter" && this.chosen >= 0) this.choose(this.chosen);
  }

  choose(i) {
    this.chosen = i;
    this.draw();
    this.onPick(this.points.row[i]);
  }
}
