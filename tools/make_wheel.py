"""Self-contained wheels of the Python package, the program `mercer` inside: ./dev wheel [PYTHON ...].

The library and the program are built once (build/wheel), the extension once for each interpreter:
Python 3.10 and 3.11 have wheels of their own, 3.12 has one for all later ones (abi3). What is opened
at run time is carried in mercer/_libs, or stands in OPTIONAL with what is lost without it; a test
(tests/repository/runtime_libraries_test.cpp) fails for a library that is in neither list. With --build
a folder that was cross-compiled (cmake/aarch64.cmake) may be taken.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import pathlib
import platform
import re
import shutil
import struct
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
    "MERCER_PARQUET_LIBRARY": "the program refuses Parquet; from Python pyarrow reads it",
}
#: Every manylinux system has these (PEP 600).
SYSTEM = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libz.so.1", "libgcc_s.so.1",
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
}
#: The newest C library that a binary may ask for (cmake/wheel.cmake sees to it).
FLOOR = (2, 28)
MOST_BYTES = 15_000_000
OPENBLAS = "scipy-openblas32"
#: Debian packages of which something is inside the binaries; their licences go along.
INSIDE = ["libpng-dev", "libstdc++-*-dev", "libhwy-dev", "libeigen3-dev", "libspectra-dev", "libfast-float-dev",
          "libfmt-dev", "libcli11-dev", "nlohmann-json3-dev"]
#: Processors by the number in the head of a binary (e_machine).
PROCESSORS = {62: "x86_64", 183: "aarch64"}

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


def processor_of(file: pathlib.Path) -> str:
    return PROCESSORS[int.from_bytes(file.read_bytes()[18:20], "little")]


def tool(name: str, file: pathlib.Path) -> str:
    """The tool that knows the processor of a binary."""
    processor = processor_of(file)
    return name if processor == platform.machine() else f"{processor}-linux-gnu-{name}"


def needed(file: pathlib.Path) -> set[str]:
    return set(re.findall(r"NEEDED\s+(\S+)", run(tool("objdump", file), "-p", file)))


def number(version: str) -> tuple[int, ...]:
    """(2, 2, 5) of GLIBC_2.2.5."""
    return tuple(map(int, version.split("_")[1].split(".")))


def check_floor(file: pathlib.Path) -> None:
    """Neither a newer C library than FLOOR, nor any C++ library of the system."""
    # Of the whole table of wanted versions: the loader wants all of it.
    symbols = run(tool("objdump", file), "-p", file)
    newer = {name for name in re.findall(r"GLIBC_[\d.]+", symbols) if number(name) > FLOOR}
    newer |= set(re.findall(r"(?:GLIBCXX|CXXABI)_[\d.]+", symbols))
    if newer:
        raise SystemExit(f"{file.name} asks for {', '.join(sorted(newer))}: see cmake/wheel.cmake")


#: Functions whose newer form differs in how it reports errors alone (cmake/old_symbols.cpp).
SAME_AS_OLD = {"exp", "exp2", "log", "log2", "pow"}


def lower_floor(file: pathlib.Path) -> None:
    """Makes a library of this system ask for old forms of SAME_AS_OLD: in its table of versions the name
    of the newer one becomes that of the oldest, which is there already (.gnu.version_r of the ELF
    specification: entries of 16 bytes, each with files of which versions are wanted after it)."""
    lines = run(tool("objdump", file), "-T", file).splitlines()
    wanted = [(line.split()[-1], found.group()) for line in lines if (found := re.search(r"GLIBC_[\d.]+", line))]
    newer = {version for _, version in wanted if number(version) > FLOOR}
    if strange := {name for name, version in wanted if version in newer} - SAME_AS_OLD:
        raise SystemExit(f"{file.name} needs newer forms of {', '.join(sorted(strange))}")
    oldest = min((version for _, version in wanted), key=number)
    data = bytearray(file.read_bytes())
    start, size, count = (struct.unpack_from(f, data, at)[0] for f, at in (("<Q", 40), ("<H", 58), ("<H", 60)))
    heads = [struct.unpack_from("<IIQQQQII", data, start + i * size) for i in range(count)]
    for _, kind, _, _, at, _, link, entries in heads:
        if kind != 0x6FFFFFFE:  # SHT_GNU_verneed
            continue
        strings = heads[link][4]
        name = data.index(f"\0{oldest}\0".encode(), strings) + 1 - strings
        for _ in range(entries):
            _, versions, _, first, following = struct.unpack_from("<HHIII", data, at)
            entry = at + first
            for _ in range(versions):
                own, step = struct.unpack_from("<II", data, entry + 8)
                text = bytes(data[strings + own:data.index(0, strings + own)]).decode()
                if text in newer:
                    struct.pack_into("<I", data, entry, elf_hash(oldest))
                    struct.pack_into("<I", data, entry + 8, name)
                entry += step
            at += following
    file.write_bytes(data)


def elf_hash(text: str) -> int:
    """The loader's hash of a name."""
    value = 0
    for byte in text.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


def licences(folder: pathlib.Path) -> dict[str, bytes]:
    """Of what is compiled into the binaries, by the package it comes from."""
    found = {}
    for package in INSIDE:
        paths = sorted(pathlib.Path("/usr/share/doc").glob(f"{package}/copyright"))
        if not paths:
            raise SystemExit(f"/usr/share/doc/{package}/copyright, the licence of what is inside, is missing")
        found[f"{paths[-1].parent.name}.txt"] = paths[-1].read_bytes()
    for path in folder.glob("lib/python*/site-packages/nanobind-*.dist-info/licenses/LICENSE"):
        found["nanobind.txt"] = path.read_bytes()
    return found


def openblas(folder: pathlib.Path, processor: str) -> None:
    with tempfile.TemporaryDirectory() as download:
        # Debian's own interpreter has no pip but in environments.
        run(sys.executable, "-m", "venv", f"{download}/venv")
        run(f"{download}/venv/bin/pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--platform",
            f"manylinux_{FLOOR[0]}_{FLOOR[1]}_{processor}", "--platform", f"manylinux2014_{processor}",
            OPENBLAS, "-d", download)
        wheel = zipfile.ZipFile(next(pathlib.Path(download).glob("*.whl")))
        for name in wheel.namelist():
            base = os.path.basename(name)
            if base == CARRIED["MERCER_OPENBLAS_LIBRARY"]:
                (folder / base).write_bytes(wheel.read(name))
                run(tool("strip", folder / base), "--strip-unneeded", folder / base)
            elif "license" in base.lower():
                (folder / "OPENBLAS-LICENSE.txt").write_bytes(wheel.read(name))


def carried_libraries(build: pathlib.Path, folder: pathlib.Path) -> list[pathlib.Path]:
    """The libraries of CARRIED and of ours, stripped, in this folder."""
    ours = build / "lib" / "libmercer.so"
    soname = re.search(r"SONAME\s+(\S+)", run(tool("objdump", ours), "-p", ours)).group(1)
    shutil.copy(ours, folder / soname)
    run(tool("strip", ours), folder / soname)
    found = re.search(r"(?m)^png_LIBRARY:FILEPATH=(.*)$", (build / "CMakeCache.txt").read_text()).group(1)
    pictures = folder / CARRIED["MERCER_PNG_LIBRARY"]
    shutil.copy(os.path.realpath(found), pictures)
    lower_floor(pictures)
    openblas(folder, processor_of(ours))
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

        def final(item: str) -> str:
            # The builder names the module after the processor it runs on itself.
            return item.replace(platform.machine(), tag.split("_", 3)[3]) if item.endswith(".so") else item

        for item in source.namelist():
            if item == record or item in extra:
                continue
            data = source.read(item)
            if item.endswith(".dist-info/WHEEL"):
                data = re.sub(rb"(?m)^Tag: (\S+)-[^-\s]+$", rb"Tag: \1-" + tag.encode(), data)
                data = data.replace(b"Root-Is-Purelib: true", b"Root-Is-Purelib: false")
            put(item, data)
        for item, content in extra.items():
            data = content if isinstance(content, bytes) else content.read_bytes()
            put(final(item), data, ".so" in item or "/scripts/" in item or "/_bin/" in item)
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


def compile_extension(python: str, build: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The wheel as its builder makes it, in folder/wheel; its environment in folder/venv."""
    for name in ("wheel", "venv"):
        shutil.rmtree(folder / name, ignore_errors=True)
    run(python, "-m", "venv", folder / "venv")
    pip = [folder / "venv" / "bin" / "python", "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "install", "-q", "scikit-build-core>=0.10", "nanobind>=2.0", "numpy")
    definitions = [f"MERCER_PREBUILT={build}", "MERCER_WHEEL=ON"]
    processor = processor_of(build / "lib" / "libmercer.so")
    if processor != platform.machine():
        definitions.append(f"CMAKE_TOOLCHAIN_FILE={ROOT / 'cmake' / processor}.cmake")
    run(*pip, "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder / "wheel",
        *(f"--config-settings=cmake.define.{one}" for one in definitions),
        "--config-settings=install.strip=false", ROOT)
    return next((folder / "wheel").glob("*.whl"))


def build_wheel(python: str, build: pathlib.Path, folder: pathlib.Path,
                libraries: list[pathlib.Path], out: pathlib.Path) -> pathlib.Path:
    raw = compile_extension(python, build, folder)
    program = folder / "mercer"
    shutil.copy(build / "bin" / "mercer", program)
    run(tool("strip", program), program)
    with zipfile.ZipFile(raw) as opened:
        module = next(n for n in opened.namelist() if n.endswith(".so"))
        (folder / "_core.so").write_bytes(opened.read(module))
        version = raw.stem.split("-")[1]
        present = set(opened.namelist())
    run(tool("strip", program), folder / "_core.so")
    binaries = [f for f in libraries if ".so" in f.name] + [program, folder / "_core.so"]
    check_needs(binaries)
    for file in binaries:
        check_floor(file)
    inside: dict[str, pathlib.Path | bytes] = {module: folder / "_core.so"}
    inside |= {f"mercer/_libs/{file.name}": file for file in libraries}
    inside["mercer/_bin/mercer"] = program
    inside[f"mercer-{version}.data/scripts/mercer"] = LAUNCHER.encode()
    texts = {"DATA.md": ROOT / "data" / "README.md", "LICENSE": ROOT / "LICENSE"} | licences(folder / "venv")
    for name, text in texts.items():
        path = f"mercer-{version}.dist-info/licenses/{name}"
        if path not in present:
            inside[path] = text
    made = repack(raw, inside, f"manylinux_{FLOOR[0]}_{FLOOR[1]}_{processor_of(program)}", out)
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
