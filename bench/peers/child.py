"""The process in which a Python package runs.

python -m bench.peers.child NAME version
python -m bench.peers.child NAME JOB.json OUTCOME.json train|predict
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import sys
from collections.abc import Sequence

from bench.peers import peer
from bench.peers.base import Job, Unsupported
from bench.peers.library import UNSUPPORTED, LibraryPeer


def main(arguments: Sequence[str]) -> int:
    chosen = peer(arguments[0])
    assert isinstance(chosen, LibraryPeer)
    if arguments[1] == "version":
        print(chosen.installed())
        return 0
    job = Job.from_json(pathlib.Path(arguments[1]).read_text())
    try:
        outcome = chosen.run_here(job, arguments[3] == "predict")
    except Unsupported as reason:
        print(reason, file=sys.stderr)
        return UNSUPPORTED
    pathlib.Path(arguments[2]).write_text(json.dumps(dataclasses.asdict(outcome)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
