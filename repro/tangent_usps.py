"""Tangent covariance on USPS (001, "USPS Digit Recognition Application"; Chapelle and Schölkopf 2002).

    python3 repro/tangent_usps.py

Four translations by half a pixel. Test error against lambda, lambda = 1 being the machine as it was:
a linear machine on B x, and a linear machine on B psi(x) with psi the kernel PCA map of a Gaussian
kernel. Writes a table and a plot.
"""

from __future__ import annotations

from common import OUT, data_file, mercer

LAMBDAS = (1, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05, 0.02)
WAYS = {
    "linear": ("0.1", ()),
    "kernel PCA map": ("10", ("--kernel", "rbf(gamma=0.0078125)", "--landmarks", "2000",
                                    "--components", "500")),
}  # fmt: skip


def errors(cost: str, words: tuple[str, ...], value: float) -> float:
    train, test = OUT / "tangent-train.npz", OUT / "tangent-test.npz"
    sample = data_file("usps/zip.train.gz")
    common = ("--label", "first", "--with", "shift(0.5)", "--background", "-1", "--lambda", value,
              "--relative", *words)  # fmt: skip
    mercer("tangent", sample, *common, "-o", train)
    mercer("tangent", data_file("usps/zip.test.gz"), "--sample", sample, *common, "-o", test)
    model = OUT / "tangent.mercer"
    mercer("train", train, model, "--kernel", "linear", "-C", cost)
    return 100 * (1 - mercer("predict", model, test, "-o", OUT / "labels.txt")["accuracy"])


def plot(curves: dict[str, list[float]]) -> str:
    high = max(max(c) for c in curves.values()) * 1.1
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 560 320" width="560" height="320" '
             'font-family="sans-serif" font-size="12"><rect width="560" height="320" fill="white"/>']  # fmt: skip
    for index, (name, curve) in enumerate(curves.items()):
        colour = ("#1b6ca8", "#c0392b")[index]
        places = [(40 + 500 * k / (len(curve) - 1), 290 - 270 * v / high)
                  for k, v in enumerate(curve)]  # fmt: skip
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="'
                     + " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>')  # fmt: skip
        for (x, y), value in zip(places, curve):
            parts.append(f'<text x="{x - 10:.0f}" y="{y - 6:.0f}" fill="{colour}">{value:.1f}</text>')
        parts.append(f'<text x="50" y="{20 + 16 * index}" fill="{colour}">{name}, test error %</text>')
    for k, value in enumerate(LAMBDAS):
        parts.append(f'<text x="{30 + 500 * k / (len(LAMBDAS) - 1):.0f}" y="310">{value:g}</text>')
    return "\n".join(parts) + "\n</svg>\n"


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    curves = {name: [errors(cost, words, value) for value in LAMBDAS]
              for name, (cost, words) in WAYS.items()}  # fmt: skip
    lines = ["| λ | " + " | ".join(f"{v:g}" for v in LAMBDAS) + " |", "|---" * (len(LAMBDAS) + 1) + "|"]
    for name, curve in curves.items():
        lines.append(f"| {name} | " + " | ".join(f"{v:.2f}" for v in curve) + " |")
    table = "\n".join(lines) + "\n"
    print(table, end="")
    (OUT / "tangent_usps.md").write_text(table)
    (OUT / "tangent_usps.svg").write_text(plot(curves))


if __name__ == "__main__":
    main()
