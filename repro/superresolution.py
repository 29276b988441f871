"""R11: super-resolution by kernel Hebbian components (001, "Super-Resolution"; Kim, Franz and Schölkopf 2004).

    python3 repro/superresolution.py [--quick]

Photographs shrunk by two and enlarged again, learnt from the five other photographs of the folder `images`: repeated
pixels, bilinear and bicubic interpolation, nearest example patches and kernel Hebbian components, by peak
signal-to-noise ratio and structural similarity.
"""

from __future__ import annotations

from common import data_file, halved, mercer
from frame import Result, Run, Table, main

PICTURES = ("kodim23.png", "kodim10.png", "astronaut.ppm", "coffee.ppm", "chelsea.ppm", "camera.pgm")
SHOWN = ("kodim23.png", "chelsea.ppm", "camera.pgm")
METHODS = {"pixels": "stretched", "bilinear": "bilinear", "bicubic": "bicubic", "patches": "nearest patches",
           "kha": "KHA"}  # fmt: skip


def make(run: Run) -> Result:
    rows, ahead, gains = [], 0, []
    shown = SHOWN[1:2] if run.quick else SHOWN
    words = ("--sample", 500, "--passes", 1, "--dictionary", 100, "--components", 10) if run.quick else ()
    for name in shown:
        others = [data_file(f"images/{other}") for other in PICTURES if other != name]
        sheet = run.file("sheet" + (".pgm" if name.endswith(".pgm") else ".ppm"))
        report = mercer("superres", data_file(f"images/{name}"), "--evaluate", "--sheet", sheet, *words,
                        "--train", *(others[:1] if run.quick else others))  # fmt: skip
        found = report["methods"]
        rows.append([name, *(f"{found[m]['psnr']:.2f} dB, {found[m]['ssim']:.4f}" for m in METHODS)])
        ahead += all(found["kha"]["psnr"] > found[m]["psnr"] for m in METHODS if m != "kha")
        gains.append(found["kha"]["psnr"] - found["bicubic"]["psnr"])
        if name == "chelsea.ppm":
            halved(sheet, run.picture("r11-chelsea.png"))
    return Result(
        "R11", "Super-resolution", "001, Super-Resolution", "superresolution.py",
        f"a picture, KHA is nearest to the original on {ahead} of {len(shown)} photographs",
        [Table(["photograph", *METHODS.values()], rows, "Peak signal-to-noise ratio and structural similarity")],
        ["The lecture prints pictures: original, stretched, bicubic, nearest neighbour (supervised), KHA (unsupervised). "
         f"KHA is {min(gains):.2f} to {max(gains):.2f} dB above bicubic here. Its components are learnt online from patches of "
         "the other photographs, the high frequencies beside the low ones."],
        [("r11-chelsea.png", "The middle of chelsea at half size: original, then the methods in the order of the table.")],
        {"ahead": ahead, "gains": gains},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
