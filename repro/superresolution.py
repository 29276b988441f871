"""Super-resolution (001; Kim, Franz and Schölkopf 2004): photographs shrunk by two and enlarged again.

    python3 repro/superresolution.py

Learns from the five other photographs of the folder `images`, and compares repeated pixels, bilinear
and bicubic interpolation, nearest example patches and kernel Hebbian components by peak
signal-to-noise ratio and structural similarity. Writes a table and one picture a photograph.
"""

from __future__ import annotations

from common import OUT, data_file, mercer

PICTURES = ("kodim23.png", "kodim10.png", "astronaut.ppm", "coffee.ppm", "chelsea.ppm", "camera.pgm")
SHOWN = ("kodim23.png", "chelsea.ppm", "camera.pgm")
METHODS = ("pixels", "bilinear", "bicubic", "patches", "kha")


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    lines = ["| photograph | " + " | ".join(METHODS) + " |", "|---|" + "---:|" * len(METHODS)]
    for name in SHOWN:
        others = [data_file(f"images/{other}") for other in PICTURES if other != name]
        sheet = OUT / f"superresolution-{name.split('.')[0]}.png"
        report = mercer("superres", data_file(f"images/{name}"), "--evaluate", "--sheet", sheet,
                        "--train", *others)
        figures = report["methods"]
        lines.append(f"| {name} | " + " | ".join(
            f"{figures[m]['psnr']:.2f} dB, {figures[m]['ssim']:.4f}" for m in METHODS) + " |")
        print(lines[-1], flush=True)
    (OUT / "superresolution.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
