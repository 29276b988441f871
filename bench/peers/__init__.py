"""One file per peer, behind one interface (base.Peer)."""

from __future__ import annotations

import importlib

from bench.peers.base import Peer

# In the order of the tables. The first two are ours: the program, and the package for trainings
# again in one process.
NAMES = ("mercer", "mercer_library", "libsvm_debian", "libsvm_newest", "sklearn", "sklearnex", "thundersvm")
OURS = "mercer"
OUR_LIBRARY = "mercer_library"
LIBSVM = ("libsvm_debian", "libsvm_newest")


def peer(name: str) -> Peer:
    found: Peer = importlib.import_module(f"bench.peers.{name}").PEER
    return found
