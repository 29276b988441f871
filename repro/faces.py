"""Face detection (001, "Face Detection"; Romdhani and others 2001).

    python3 repro/faces.py [PICTURE ...]          # default: images/astronaut.ppm of the data

Trained on the 19 x 19 patches of cbcl_faces (2429 faces, 4548 others), contrast taken out: a Gaussian
machine, a reduced set made one vector after another, a cascade. Prints the share of patches left after
0, 1, 10, 20, 30 kernels and the average number of kernels a patch, on the test patches and on
pictures, and draws what is found.
"""

from __future__ import annotations

import pathlib
import sys

from common import OUT, data_file, mercer

STAGES = "1,2,3,4,5,6,8,10,12,15,20,25,30,40,50"


def shares(left: list[dict]) -> str:
    by = {part["kernels"]: part["left"] for part in left}
    return " | ".join(["100"] + [f"{100 * by[k]:.3g}" for k in (1, 10, 20, 30)])


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    train, test = OUT / "faces.npz", OUT / "faces-test.npz"
    contrast = ("--with", "contrast", "--replace", "-o")
    mercer("virtual", data_file("cbcl_faces/train-images-idx3-ubyte.gz"), *contrast, train)
    mercer("virtual", data_file("cbcl_faces/test-images-idx3-ubyte.gz"), *contrast, test)
    whole, short, quick = OUT / "faces.mercer", OUT / "faces-short.mercer", OUT / "faces-quick.mercer"
    trained = mercer("train", train, whole, "--kernel", "rbf(gamma=0.003)", "-C", 10)
    mercer("reduce", whole, short, "--vectors", 60, "--method", "sequential", "--no-joint")
    report = mercer("cascade", short, train, quick, "--keep", 1, "--false-negatives", 0.02,
                    "--stages", STAGES, "--test", test)  # fmt: skip
    lines = [f"{trained['support_vectors']} support vectors, 60 in the reduced set.", "",
             "| patches left % after | 0 | 1 | 10 | 20 | 30 | average kernels | seconds | all 60 |",
             "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for run in report["runs"]:
        name = pathlib.Path(run["input"]).name
        lines.append(f"| {name} | {shares(run['left'])} | {run['average_kernels']:.2f} | "
                     f"{run['seconds']:.3f} | {run['seconds_whole']:.3f} |")  # fmt: skip
    pictures = [pathlib.Path(p) for p in sys.argv[1:]] or [data_file("images/astronaut.ppm")]
    for picture in pictures:
        out = OUT / f"faces-{picture.stem}.png"
        found = mercer("detect", quick, picture, "-o", out, "--step", 2, "--threshold", 0.5)
        lines.append(f"| {picture.name} ({found['patches']} patches, {len(found['found'])} found) | "
                     f"{shares(found['left'])} | {found['average_kernels']:.2f} | "
                     f"{found['seconds']:.3f} | |")  # fmt: skip
    table = "\n".join(lines) + "\n"
    print(table, end="")
    (OUT / "faces.md").write_text(table)


if __name__ == "__main__":
    main()
