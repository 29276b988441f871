"""What the experiments share: the program, the data, tables and pictures."""

from __future__ import annotations

import json
import os
import pathlib
import struct
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("MERCER_DATA", ROOT / "../shared/data"))
PROGRAM = pathlib.Path(os.environ.get("MERCER_PROGRAMS", ROOT / "build/bin")) / "mercer"
OUT = ROOT / "build" / "repro"

Row = list[float]


def mercer(*words: object, codes: tuple[int, ...] = (0,)) -> dict:
    """Runs the program and gives its report; ends with its message at any other exit code."""
    command = [str(PROGRAM), *map(str, words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def data_file(name: str) -> pathlib.Path:
    path = DATA / name
    if not path.exists():
        sys.exit(f"{path} is not there; set MERCER_DATA to the folder of the data sets")
    return path


def write_rows(path: pathlib.Path, rows: list[Row]) -> pathlib.Path:
    path.write_text("".join(",".join(f"{v:.9g}" for v in row) + "\n" for row in rows))
    return path


def read_rows(path: pathlib.Path) -> list[Row]:
    return [[float(v) for v in line.split(",")] for line in path.read_text().splitlines()]


def write_table(name: str, lines: list[str]) -> None:
    """The result of an experiment, printed and kept in build/repro."""
    table = "\n".join(lines) + "\n"
    print(table, end="")
    (OUT / f"{name}.md").write_text(table)


def mean_squared(a: list[Row], b: list[Row]) -> float:
    """The mean squared difference of an entry."""
    total = sum((x - y) ** 2 for p, q in zip(a, b) for x, y in zip(p, q))
    return total / sum(len(row) for row in a)


def write_sheet(
    path: pathlib.Path, lines: list[list[Row]], side: int, low: float, high: float, zoom: int = 3
) -> None:
    """Rows of `side` x `side` grey pictures as one PNG: `low` is black, `high` white."""
    gap = 2
    wide = max(map(len, lines)) * (side * zoom + gap) - gap
    pixels = bytearray()
    for number, line in enumerate(lines):
        if number > 0:
            pixels += (b"\0" + b"\xff" * wide) * gap
        for i in range(side):
            scan = bytearray()
            for k, picture in enumerate(line):
                if k > 0:
                    scan += b"\xff" * gap
                for v in picture[i * side : (i + 1) * side]:
                    level = round(255 * min(max((v - low) / (high - low), 0), 1))
                    scan += bytes([level]) * zoom
            scan += b"\xff" * (wide - len(scan))
            pixels += (b"\0" + scan) * zoom
    write_png(path, wide, len(pixels) // (wide + 1), bytes(pixels), 0)


def write_png(path: pathlib.Path, wide: int, high: int, scans: bytes, kind: int) -> None:
    """Lines of pixels, each after a byte 0, as PNG of 8 bits: kind 0 is grey, 2 red, green and blue."""

    def chunk(name: bytes, content: bytes) -> bytes:
        body = name + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", wide, high, 8, kind, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(scans, 9))
        + chunk(b"IEND", b"")
    )


def read_ppm(path: pathlib.Path) -> tuple[int, int, bytes]:
    """Width, height and the bytes of a picture in the format P6."""
    content = path.read_bytes()
    words, at = [], 0
    while len(words) < 4:
        end = min(i for i in (content.find(c, at) for c in (b" ", b"\n")) if i >= 0)
        words.append(content[at:end])
        at = end + 1
    if words[0] != b"P6" or words[3] != b"255":
        sys.exit(f"{path} is no picture of the format P6 with 255 levels")
    return int(words[1]), int(words[2]), content[at:]


def halved(source: pathlib.Path, target: pathlib.Path) -> None:
    """A picture at half the size, as PNG; each pixel is the mean of four."""
    wide, high, pixels = read_ppm(source)
    scans = bytearray()
    for i in range(0, high - 1, 2):
        scans.append(0)
        above, below = (pixels[3 * wide * k : 3 * wide * (k + 1)] for k in (i, i + 1))
        for j in range(0, wide - 1, 2):
            for c in range(3 * j, 3 * j + 3):
                scans.append((above[c] + above[c + 3] + below[c] + below[c + 3] + 2) // 4)
    write_png(target, wide // 2, high // 2, bytes(scans), 2)
