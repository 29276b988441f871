"""Child processes with a clock, a memory meter and a limit; and what machine this is."""

from __future__ import annotations

import dataclasses
import datetime
import math
import os
import pathlib
import platform
import resource
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True)
class Finished:
    seconds: float
    peak_mib: float
    code: int
    output: str
    errors: str
    late: bool = False  # killed at the limit


def _plain_environment() -> dict[str, str]:
    """As users have it: without what this shell says to OpenBLAS about the processor."""
    return {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}


def run(
    command: Sequence[str | os.PathLike[str]],
    limit: float,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Runs a program to its end or to the limit. The peak is the resident memory of that process
    (and of children it waited for), as the system counted it."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        child = subprocess.Popen(
            [os.fspath(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env={**_plain_environment(), **(environment or {})},
            start_new_session=True,
        )
        late = threading.Event()

        def stop() -> None:
            late.set()
            os.killpg(child.pid, signal.SIGKILL)

        timer = threading.Timer(limit, stop)
        timer.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:  # interrupted: leave no child behind
            os.killpg(child.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output, errors = (file.read().decode(errors="replace") for file in (out, err))
        peak = usage.ru_maxrss / 1024
        return Finished(seconds, peak, child.returncode, output, errors, late.is_set())


class Disturbance:
    """How much of the machine others took since this began, in cores: all busy time of the system
    (and time the host kept from it) less that of our own children."""

    def __init__(self) -> None:
        self._clock, self._busy, self._own = self._now()

    @staticmethod
    def _now() -> tuple[float, float, float]:
        stat = pathlib.Path("/proc/stat")
        busy = math.nan
        if stat.exists():
            ticks = [int(word) for word in stat.read_text().splitlines()[0].split()[1:9]]
            user, nice, system, _idle, _iowait, irq, softirq, steal = ticks
            busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        mine = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return time.perf_counter(), busy, sum(u.ru_utime + u.ru_stime for u in mine)

    def cores(self) -> float | None:
        """None where the system does not say, or the time was too short to tell."""
        clock, busy, own = self._now()
        passed = clock - self._clock
        taken = (busy - self._busy) - (own - self._own)
        if passed < 0.2 or math.isnan(taken):
            return None
        return round(max(taken / passed, 0.0), 2)


def machine() -> dict[str, object]:
    """Enough to tell one machine from another, and nothing that names it."""
    fields: dict[str, str] = {}
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    flags = fields.get("flags", "").split()
    widest = next((f for f in ("avx512_vnni", "avx512f", "avx2", "avx") if f in flags), "")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": fields.get("model name", platform.machine()),
        "vectors": widest,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.release().split('-')[0]}",
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def now() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
