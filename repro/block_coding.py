"""Block coding of a photograph (001, "Kernel VQ", table R9): the linear program beside LBG.

    python3 repro/block_coding.py [PICTURE]          # default: images/kodim23.png of the data

8 x 8 blocks of colour are the rows. For each radius R: the size of the compressed file, the ratio,
the number M of codes, the largest and the root mean square distance of a block from its code; and
the same for k-means of the same size. Writes the decoded pictures beside the table.
"""

from __future__ import annotations

import pathlib
import sys

from common import OUT, data_file, mercer

RADII = (200, 300, 400, 600, 800)


def line(name: str, radius: object, report: dict) -> str:
    ratio = report["bytes_raw"] / report["bytes"]
    return (f"| {name} | {report['bytes']} | {ratio:.1f} | {radius} | {report['codes']} | "
            f"{report['largest']:.0f} | {report['root_mean_square']:.0f} | {report['seconds']:.1f} |")  # fmt: skip


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    picture = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else data_file("images/kodim23.png")
    lines = ["| method | bytes | ratio | R | M | E_max | E_rms | seconds |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for radius in RADII:
        codes = OUT / f"block-{radius}.vq.xz"
        report = mercer("vq", "encode", picture, "--radius", radius, "-o", codes)
        mercer("vq", "decode", codes, "-o", OUT / f"block-{radius}-lp.png")
        lines.append(line("LP", radius, report))
        codes = OUT / f"block-{radius}.lbg.xz"
        means = mercer("vq", "encode", picture, "--method", "lbg", "--codes", report["codes"],
                       "-o", codes)  # fmt: skip
        mercer("vq", "decode", codes, "-o", OUT / f"block-{radius}-lbg.png")
        lines.append(line("LBG", "–", means))
    table = "\n".join(lines) + "\n"
    print(table, end="")
    (OUT / "block_coding.md").write_text(table)


if __name__ == "__main__":
    main()
