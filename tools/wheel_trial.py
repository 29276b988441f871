"""What a fresh installation must be able to do; run by the interpreter it was installed for.

Trains, predicts, saves, loads, exports; reads and writes every format that needs no optional library;
runs the program; and sees that what is optional is refused with its remedy, or works.
"""

from __future__ import annotations

import importlib.util
import io
import os
import pathlib
import struct
import subprocess
import sys
import tarfile
import tempfile
import time

import numpy as np


def start(*words) -> subprocess.CompletedProcess[str]:
    """Runs the program as people do; for another processor by the emulator that MERCER_EMULATOR names."""
    emulator = os.environ.get("MERCER_EMULATOR")
    command = [pathlib.Path(sys.executable).parent / "mercer"]
    if emulator:
        package = pathlib.Path(importlib.util.find_spec("mercer").origin).parent
        command = [emulator, package / "_bin" / "mercer"]
    return subprocess.run([*map(str, command), *map(str, words)], text=True, capture_output=True)


def program(*words) -> str:
    done = start(*words)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout + done.stderr


def by_python(folder: pathlib.Path) -> None:
    import mercer

    random = np.random.default_rng(0)
    y = np.arange(300) % 3
    x = random.standard_normal((300, 5)) + 2.5 * y[:, None]
    machine = mercer.SVC(C=3, probability=True).fit(x, y)
    assert (machine.predict(x) == y).mean() > 0.95
    assert machine.report_.relative_gap < 0.01
    assert np.allclose(machine.predict_proba(x).sum(axis=1), 1)
    machine.save(folder / "m.mercer")
    assert (mercer.load(folder / "m.mercer").predict(x) == machine.predict(x)).all()
    for name in ("m.onnx", "m.c"):
        machine.export(folder / name)
    mercer.KernelRidge(kernel="rbf").fit(x, x[:, 0])
    mercer.GaussianProcessRegressor(kernel=mercer.rbf(gamma=0.2)).fit(x, x[:, 0])
    mercer.KernelPCA(n_components=2, kernel="rbf").fit(x)
    # Rows of bytes: by oneDNN where it is, else as floats.
    pixels = random.integers(0, 256, (400, 80)).astype(np.float32)
    mercer.SVC(kernel="rbf").fit(pixels, (pixels[:, 0] > 128).astype(int))


def written_by_hand() -> dict[str, bytes]:
    """Small files in the formats that people bring along."""
    numpy_file = io.BytesIO()
    np.save(numpy_file, np.arange(12.0).reshape(4, 3))
    deflated = io.BytesIO()
    np.savez_compressed(deflated, X=np.arange(12.0).reshape(4, 3), y=np.arange(4))
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for kind in ("ham", "spam"):
            for i in range(2):
                text = f"{kind} number {i}".encode()
                entry = tarfile.TarInfo(f"{kind}/{i}.txt")
                entry.size = len(text)
                tar.addfile(entry, io.BytesIO(text))
    pixels = struct.pack(">BBBBIII", 0, 0, 8, 3, 3, 2, 2) + bytes(range(12))
    return {
        "h.npy": numpy_file.getvalue(),
        "h.npz": deflated.getvalue(),
        "h.arff": b"@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n2,y\n3,x\n",
        "h.txt": b"1 2 3\n4 5 6\n7 8 10\n",
        "h-images-idx3-ubyte": pixels,
        "h.fasta": b">a one\nACGT\n>b two\nACGA\n",
        "h.tar": archive.getvalue(),
        "h.edges": b"a b\nb c\nc a\n",
    }


def by_program(folder: pathlib.Path) -> list[str]:
    tried = []
    assert "Learn, predict and judge" in program("--help")
    for name in ("d.csv", "d.tsv", "d.libsvm", "d.npz", "d.csv.gz", "d.npz.gz"):
        path = folder / name
        program("convert", "@iris", "-o", path)
        assert "150" in program("info", path), name
        tried.append(name)
    for name, content in written_by_hand().items():
        (folder / name).write_bytes(content)
        assert "rows" in program("info", folder / name), name
        tried.append(name)
    program("train", folder / "d.csv.gz", folder / "i.mercer")
    assert "setosa" in program("predict", folder / "i.mercer", folder / "d.csv")
    program("train", "@digits", folder / "g.mercer", "--kernel", "rbf(gamma=0.001)")
    program("plot", "spectrum", "rbf(gamma=0.1)", "@iris", "-o", folder / "s.png")
    tried.append("png out")
    for ending, library in ((".xz", "libarchive"), (".zst", "libarchive"), (".bz2", "libarchive")):
        done = start("convert", "@iris", "-o", folder / f"e.csv{ending}")
        assert done.returncode == 0 or library in done.stderr, done.stderr
        tried.append(f"csv{ending} " + ("written" if done.returncode == 0 else "refused by name"))
    return tried


def main() -> int:
    start = time.time()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        by_python(folder)
        tried = by_program(folder)
    print(f"all is well after {time.time() - start:.1f} s: {', '.join(tried)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
