"""Self-contained wheels of the Python package, the program `mercer` inside: ./dev wheel [PYTHON ...].

The library and the program are built once (build/wheel), the extension once for each interpreter:
Python 3.10 and 3.11 have wheels of their own, 3.12 has one for all later ones (abi3). What is opened
at run time is carried in mercer/_libs, or stands in OPTIONAL with what is lost without it; a test
(tests/repository/runtime_libraries_test.cpp) fails for a library that is in neither list.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "wheel"
#: Definitions of CMake that name libraries opened at run time, and the files that are carried.
CARRIED = {
    "MERCER_OPENBLAS_LIBRARY": "libscipy_openblas.so",
    "MERCER_PNG_LIBRARY": "libpng16.so.16",
}
#: The others, and what is done without them.
OPTIONAL = {
    "MERCER_ONEDNN_LIBRARY": "products of bytes are taken of floats",
    "MERCER_LIBARCHIVE_LIBRARY": "bz2, xz, zstd and lz4 files are refused; gzip needs none",
    "MERCER_CLP_LIBRARY": "codebooks by linear programs (vq) are refused",
    "MERCER_MICROHTTPD_LIBRARY": "mercer studio is refused",
    "MERCER_MPI_LIBRARY": "several processes under mpirun are refused",
}
#: Every manylinux system has these (PEP 600), and NumPy needs the C++ library as well.
SYSTEM = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "libz.so.1",
    "libstdc++.so.6", "libgcc_s.so.1", "librt.so.1",
}
MOST_BYTES = 15_000_000
OPENBLAS = "scipy-openblas32"

LAUNCHER = """#!python
# The program mercer, which lies inside the package; the package itself is not imported.
import importlib.util
import os
import sys

folder = os.path.dirname(importlib.util.find_spec("mercer").origin)
program = os.path.join(folder, "_bin", "mercer")
os.execv(program, ["mercer", *sys.argv[1:]])
"""


def run(*words, **settings) -> str:
    done = subprocess.run([str(w) for w in words], text=True, capture_output=True, **settings)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build_library() -> None:
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        "-DMERCER_WHEEL=ON", "-DMERCER_BUILD_TESTS=OFF")
    run("cmake", "--build", BUILD)


def needed(file: pathlib.Path) -> set[str]:
    return set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", file)))


def glibc_of(file: pathlib.Path) -> tuple[int, int]:
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("objdump", "-T", file))
    return max(((int(a), int(b)) for a, b in versions), default=(2, 17))


def graft(name: str, folder: pathlib.Path) -> pathlib.Path:
    """A library of this system with its licence, copied into the folder."""
    for line in run("ldconfig", "-p").splitlines():
        known, _, path = line.strip().partition(" => ")
        if known.split(" ")[0] != name or "x86-64" not in known:
            continue
        shutil.copy(os.path.realpath(path), folder / name)
        package = run("dpkg", "-S", os.path.realpath(path)).split(":")[0]
        licence = pathlib.Path("/usr/share/doc") / package / "copyright"
        shutil.copy(licence, folder / f"{package.upper()}-LICENSE.txt")
        return folder / name
    raise SystemExit(f"{name} is to be carried, and the loader does not know it")


def carried_libraries(build: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
    """The libraries of CARRIED and of ours, stripped, in this folder."""
    ours = build / "lib" / "libmercer.so"
    target = folder / re.search(r"SONAME\s+(\S+)", run("objdump", "-p", ours)).group(1)
    shutil.copy(ours, target)
    run("strip", target)
    with tempfile.TemporaryDirectory() as download:
        # Debian's own interpreter has no pip but in environments.
        run(sys.executable, "-m", "venv", f"{download}/venv")
        run(f"{download}/venv/bin/pip", "download", "-q", "--no-deps", OPENBLAS, "-d", download)
        wheel = zipfile.ZipFile(next(pathlib.Path(download).glob("*.whl")))
        for name in wheel.namelist():
            base = os.path.basename(name)
            if base == CARRIED["MERCER_OPENBLAS_LIBRARY"]:
                (folder / base).write_bytes(wheel.read(name))
            elif "license" in base.lower():
                (folder / "OPENBLAS-LICENSE.txt").write_bytes(wheel.read(name))
    graft(CARRIED["MERCER_PNG_LIBRARY"], folder)
    # And what these and the program are linked to and not every system has.
    binaries = [build / "bin" / "mercer", *folder.glob("*.so*")]
    while more := set().union(*map(needed, binaries)) - SYSTEM - {f.name for f in folder.iterdir()}:
        binaries = [graft(name, folder) for name in sorted(more)]
    absent = [name for name in CARRIED.values() if not (folder / name).exists()]
    if absent:
        raise SystemExit(f"not found, and to be carried: {', '.join(absent)}")
    return sorted(folder.iterdir())


def record_line(name: str, data: bytes) -> list[str]:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return [name, f"sha256={digest}", str(len(data))]


def repack(wheel: pathlib.Path, extra: dict[str, pathlib.Path | bytes], tag: str,
           out: pathlib.Path) -> pathlib.Path:
    """The wheel with more files, under another platform tag, its RECORD written anew."""
    source = zipfile.ZipFile(wheel)
    name, version, python, abi, _ = wheel.stem.split("-")
    target = out / f"{name}-{version}-{python}-{abi}-{tag}.whl"
    lines: list[list[str]] = []
    record = f"{name}-{version}.dist-info/RECORD"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        def put(path: str, data: bytes, program: bool = False) -> None:
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            packed.writestr(entry, data)
            lines.append(record_line(path, data))

        for item in source.namelist():
            if item == record:
                continue
            data = source.read(item)
            if item.endswith(".dist-info/WHEEL"):
                data = re.sub(rb"(?m)^Tag: (\S+)-[^-\s]+$", rb"Tag: \1-" + tag.encode(), data)
                data = data.replace(b"Root-Is-Purelib: true", b"Root-Is-Purelib: false")
            put(item, data, item.endswith(".so"))
        for item, content in extra.items():
            data = content if isinstance(content, bytes) else content.read_bytes()
            put(item, data, ".so" in item or "/scripts/" in item or "/_bin/" in item)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([*lines, [record, "", ""]])
        packed.writestr(zipfile.ZipInfo(record, (1980, 1, 1, 0, 0, 0)), text.getvalue())
    return target


def check_needs(files: list[pathlib.Path]) -> None:
    """Whatever the loader will want is carried, or on every system."""
    there = {file.name for file in files} | SYSTEM
    for file in files:
        if absent := needed(file) - there:
            raise SystemExit(f"{file.name} needs {', '.join(sorted(absent))}, which nobody carries")


def build_wheel(python: str, build: pathlib.Path, folder: pathlib.Path,
                libraries: list[pathlib.Path], out: pathlib.Path) -> pathlib.Path:
    work = folder / "wheel"
    shutil.rmtree(work, ignore_errors=True)
    environment = folder / "venv"
    shutil.rmtree(environment, ignore_errors=True)
    run(python, "-m", "venv", environment)
    pip = [environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "install", "-q", "scikit-build-core>=0.10", "nanobind>=2.0", "numpy")
    run(*pip, "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", work,
        "--config-settings=cmake.define.MERCER_PREBUILT=" + str(build), "--config-settings=cmake.define.MERCER_WHEEL=ON",
        "--config-settings=install.strip=true", ROOT)
    raw = next(work.glob("*.whl"))
    program = folder / "mercer"
    shutil.copy(build / "bin" / "mercer", program)
    run("strip", program)
    with zipfile.ZipFile(raw) as opened:
        module = next(n for n in opened.namelist() if n.endswith(".so"))
        (folder / "_core.so").write_bytes(opened.read(module))
        version = raw.stem.split("-")[1]
    binaries = [f for f in libraries if ".so" in f.name] + [program, folder / "_core.so"]
    check_needs(binaries)
    floor = max(glibc_of(f) for f in binaries)
    extra: dict[str, pathlib.Path | bytes] = {
        f"mercer/_libs/{file.name}": file for file in libraries
    }
    extra["mercer/_bin/mercer"] = program
    extra[f"mercer-{version}.data/scripts/mercer"] = LAUNCHER.encode()
    extra[f"mercer-{version}.dist-info/licenses/DATA.md"] = ROOT / "data" / "README.md"
    extra[f"mercer-{version}.dist-info/licenses/LICENSE"] = ROOT / "LICENSE"
    with zipfile.ZipFile(raw) as opened:
        extra = {name: data for name, data in extra.items() if name not in opened.namelist()}
    made = repack(raw, extra, f"manylinux_{floor[0]}_{floor[1]}_x86_64", out)
    size = made.stat().st_size
    print(f"{made.name}: {size / 1e6:.1f} MB")
    if size > MOST_BYTES:
        raise SystemExit(f"{made.name} has {size} bytes, more than {MOST_BYTES}")
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("python", nargs="*", default=[sys.executable], help="interpreters")
    parser.add_argument("--out", default=ROOT / "build" / "wheels", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path,
                        help="a build folder to take, configured with MERCER_WHEEL=ON")
    settings = parser.parse_args()
    settings.out.mkdir(parents=True, exist_ok=True)
    build = (settings.build or BUILD).resolve()
    if settings.build is None:
        build_library()
    made = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        (folder / "libs").mkdir()
        libraries = carried_libraries(build, folder / "libs")
        for python in settings.python:
            made.append(build_wheel(python, build, folder, libraries, settings.out))
    sums = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in made]
    (settings.out / "SHA256SUMS").write_text("".join(sorted(sums)))
    for name, lost in OPTIONAL.items():
        print(f"not carried: {name.split('_')[1].lower()}; without it {lost}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
