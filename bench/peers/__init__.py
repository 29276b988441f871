"""One file per peer, behind one interface (base.Peer)."""

from __future__ import annotations

import importlib

from bench.peers.base import Peer

# In the order of the tables. The first is ours.
NAMES = ("mercer", "libsvm_debian", "libsvm_newest", "sklearn", "sklearnex", "thundersvm")
OURS = "mercer"
LIBSVM = ("libsvm_debian", "libsvm_newest")


def peer(name: str) -> Peer:
    found: Peer = importlib.import_module(f"bench.peers.{name}").PEER
    return found
