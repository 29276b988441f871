// Lecture mode: one step after another on few points, each asked of the server, with what it moved.
import { figures, lines, show } from "./panels.js";

export class Lecture {
  constructor(plane, ask, points) {
    Object.assign(this, { plane, ask, points, step: 0, history: [], timer: null, asked: 0 });
    const on = (id, event, f) => document.getElementById(id).addEventListener(event, f);
    on("step", "click", () => this.go(this.step + 1));
    on("step-back", "click", () => this.go(this.step - 1));
    on("step-first", "click", () => this.restart());
    on("play", "click", () => this.play());
    on("method", "change", () => this.restart());
    on("lecture-c", "change", () => this.restart());
    document.addEventListener("keydown", (e) => {
      if (!this.active || ["INPUT", "SELECT"].includes(e.target.tagName)) return;
      if (e.key === "ArrowRight") { e.preventDefault(); this.go(this.step + 1); }
      if (e.key === "ArrowLeft") { e.preventDefault(); this.go(this.step - 1); }
      if (e.key === "Home") { e.preventDefault(); this.restart(); }
    });
  }

  get active() { return document.body.classList.contains("lecture"); }

  restart() {
    this.pause();
    this.history = [];
    this.step = 0;
    this.plane.view = null;
    this.plane.alpha = null;
    this.plane.moved = [];
    this.plane.draw();
    this.tell(null);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    document.getElementById("play").setAttribute("aria-pressed", "false");
  }

  play() {
    if (this.timer) return this.pause();
    document.getElementById("play").setAttribute("aria-pressed", "true");
    this.timer = setInterval(() => this.go(this.step + 1), 450);
  }

  async go(step) {
    if (step < 1) return this.restart();
    const points = this.points();
    const ticket = ++this.asked;
    let frame = this.history[step];
    if (!frame) {
      frame = await this.ask("/api/lecture", {
        method: document.getElementById("method").value, kernel: document.getElementById("kernel").value,
        C: +document.getElementById("lecture-c").value, step, x: points.map((p) => [p[0], p[1]]), y: points.map((p) => p[2]),
      });
      if (!frame) return this.pause();
    }
    if (ticket !== this.asked || !this.active) return;  // a later step has been asked for
    this.history[step] = frame;
    this.step = step;
    this.plane.view = frame;
    this.plane.alpha = frame.alpha;
    this.plane.moved = frame.moved;
    this.plane.draw();
    this.tell(frame);
    if (frame.finished) this.pause();
  }

  tell(frame) {
    const pairs = [["step", this.step]];
    if (frame) {
      if (frame.dual !== null) pairs.push(["dual objective", show(frame.dual, 6)]);
      if (frame.margin_size) pairs.push(["margin", show(frame.margin_size)]);
      if (frame.norm) pairs.push(["‖w‖", show(frame.norm)]);
      if (frame.mistakes !== null) pairs.push(["mistakes in this pass", frame.mistakes]);
      if (frame.violation) pairs.push(["KKT violation", show(frame.violation, 3)]);
      if (frame.moved.length) pairs.push(["moved", frame.moved.map((r) => `point ${r + 1}`).join(", ")]);
      pairs.push(["", frame.finished ? "finished" : "goes on", frame.finished ? "good" : ""]);
    }
    figures(document.getElementById("lecture-figures"), pairs);
    const of = (name) => this.history.map((f, k) => f ? [k, f[name]] : null).filter((p) => p && p[1] !== null && k_ok(p));
    const mistakes = document.getElementById("method").value === "perceptron";
    lines(document.getElementById("lecture-chart"), mistakes
      ? [{ name: "mistakes", colour: "var(--bad)", points: of("mistakes") }]
      : [{ name: "dual", colour: "var(--accent)", points: of("dual") }, { name: "margin", colour: "var(--c2)", points: of("margin_size") }],
    { x: "steps" });
  }
}

const k_ok = (p) => Number.isFinite(p[1]);
