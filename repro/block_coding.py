"""R9: block coding of a photograph, the linear program beside LBG (001, "Application to Block Coding of Images").

    python3 repro/block_coding.py [--quick]

384 x 256 pixels of colour in 8 x 8 blocks: 1536 rows of 192 numbers, 288 KB, as in the lecture. Its photograph is not
printed as data, so three others are coded, the middles of astronaut, coffee and chelsea. The printed size is that of the
codes alone, M · 192 bytes (757 · 192 = 144 KB), and so it is here; the file with all it needs is told beside it.
"""

from __future__ import annotations

import pathlib

from common import data_file, mercer, read_ppm
from frame import Result, Run, Table, main

PICTURES = ("astronaut", "coffee", "chelsea")
WIDE, HIGH, BLOCK = 384, 256, 192
RADII = (200, 500)
STARTS = 10
PRINTED = [["Original", "288KB", "100%", "0", "1536", "0", "0", "–"],
           ["LP-VQ", "144KB", "50%", "200", "757", "199.9", "88.7", "–"],
           ["LP-VQ", "33KB", "12%", "500", "170", "499.5", "283.8", "–"],
           ["LBG", "33KB", "12%", "–", "170", "816.4", "229.8", "–"]]  # fmt: skip


def middle(source: pathlib.Path, target: pathlib.Path, wide: int, high: int) -> pathlib.Path:
    """The middle of a photograph in the format P6."""
    across, down, pixels = read_ppm(source)
    left, top = (across - wide) // 2, (down - high) // 2
    lines = [pixels[3 * ((top + i) * across + left) :][: 3 * wide] for i in range(high)]
    target.write_bytes(b"P6\n%d %d\n255\n" % (wide, high) + b"".join(lines))
    return target


def line(name: str, radius: object, report: dict) -> list[str]:
    codes, rows = report["codes"], report["rows"]
    return [name, f"{codes * BLOCK / 1024:.0f}KB", f"{100 * codes / rows:.0f}%", str(radius), str(codes),
            f"{report['largest']:.1f}", f"{report['root_mean_square']:.1f}", f"{report['bytes'] / 1024:.0f}KB"]  # fmt: skip


def compared(picture: pathlib.Path, begun: dict, run: Run) -> list[str]:
    """E_rms and E_max of LBG begun at random, several times, beside one begun at the program's codes."""
    drawn = [mercer("vq", "encode", picture, "--method", "lbg", "--codes", begun["codes"], "--seed", seed, "-o",
                    run.file("drawn.vq")) for seed in range(1, 3 if run.quick else STARTS + 1)]  # fmt: skip
    cells = []
    for figure in ("root_mean_square", "largest"):
        found = [report[figure] for report in drawn]
        cells += [f"{sum(found) / len(found):.1f} ({min(found):.1f} to {max(found):.1f})", f"{begun[figure]:.1f}"]
    return cells


def make(run: Run) -> Result:
    wide, high = (128, 96) if run.quick else (WIDE, HIGH)
    head = ["image", "size", "ratio", "R", "M", "E_max", "E_rms", "whole file"]
    tables, shown, starts, kept, lower = [Table(head, PRINTED, "Printed")], [], [], True, True
    for name in PICTURES[:1] if run.quick else PICTURES:
        picture = middle(data_file(f"images/{name}.ppm"), run.file(f"{name}.ppm"), wide, high)
        rows = []
        for radius in RADII:
            packed, unpacked = run.file("codes.vq.xz"), run.picture(f"r9-{name}-{radius}.png")
            report = mercer("vq", "encode", picture, "--radius", radius, "-o", packed)
            mercer("vq", "decode", packed, "-o", unpacked)
            rows.append(line("LP-VQ", radius, report))
            kept = kept and report["largest"] <= radius
        means = mercer("vq", "encode", picture, "--method", "lbg", "--codes", report["codes"], "-o",
                       run.file("lbg.vq.xz"))  # fmt: skip
        mercer("vq", "decode", run.work / "lbg.vq.xz", "-o", run.picture(f"r9-{name}-lbg.png"))
        rows.append(line("LBG", "–", means))
        begun = mercer("vq", "encode", picture, "--method", "lbg", "--start", "lp", "--radius", RADII[-1], "-o",
                       run.file("begun.vq.xz"))  # fmt: skip
        rows.append(line("LBG begun at LP-VQ's codes", "–", begun))
        starts.append([name, *compared(picture, begun, run)])
        lower = lower and means["root_mean_square"] < report["root_mean_square"] and means["largest"] > 500
        tables.append(Table(head, rows, f"Ours, {name}"))
        if name == PICTURES[0]:
            shown = [(f"r9-{name}-200.png", "LP-VQ, R = 200."), (f"r9-{name}-500.png", "LP-VQ, R = 500."),
                     (f"r9-{name}-lbg.png", "LBG, as many codes as LP-VQ at R = 500.")]  # fmt: skip
    return Result(
        "R9", "Block coding of an image", "001, Application to Block Coding of Images", "block_coding.py",
        "in part, other photographs than the lecture's; the guarantee holds and LBG trades it for a smaller mean error"
        if kept and lower else "in part, other photographs than the lecture's",
        [*tables, Table(["photograph", "E_rms, random starts", "begun at LP-VQ's codes", "E_max, random starts",
                         "begun at LP-VQ's codes"], starts, "Where LBG begins")],
        ["M depends on the photograph: how many blocks are like others. What does not is repeated: no block is farther from "
         "its code than R; LBG with as many codes has the smaller root mean square error and leaves some blocks much farther "
         "away. The lecture's sizes are those of the codes alone, M · 192 bytes; a file also says which code each block "
         "has, and is compressed, which the last column is.",
         f"LBG's answer depends on where it begins. Begun at random (k-means++, seeds 1 to {STARTS}, mean, least and most) and at "
         "the codes of the linear program, which have no block far from them and so begin with rare blocks as well."],
        shown, {"kept": kept, "lower": lower},
    )  # fmt: skip


if __name__ == "__main__":
    main(make)
