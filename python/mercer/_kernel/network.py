"""One graph whose nodes are the rows: for the kernels diffusion, regularized_laplacian and p_step."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np


class Network:
    """A graph of which rows are nodes.

    Parameters
    ----------
    edges : pairs of names of nodes, or a graph of NetworkX
        Each once or from both ends; edges have no direction, and those given twice add up. The weights
        of a graph of NetworkX are its edges' ``weight``.
    weights : numbers above 0, optional
        One an edge.
    nodes : names, optional
        Nodes that may have no edges.

    Examples
    --------
    >>> club = Network([("anna", "bert"), ("bert", "carl"), ("carl", "dora")])
    >>> X = club.rows(["anna", "dora"])
    >>> len(X), len(club.rows())
    (2, 4)
    """

    def __init__(
        self,
        edges: Any,
        weights: Sequence[float] | None = None,
        nodes: Iterable[Hashable] = (),
    ) -> None:
        if hasattr(edges, "edges") and hasattr(edges, "nodes"):
            nodes = [*edges.nodes(), *nodes]
            triples = [*edges.edges(data=True)]
            if weights is None and any("weight" in data for _, _, data in triples):
                weights = [data.get("weight", 1.0) for _, _, data in triples]
            edges = [(a, b) for a, b, _ in triples]
        pairs = [(a, b) for a, b in edges]
        places: dict[Hashable, int] = {}
        for name in [*nodes, *(name for pair in pairs for name in pair)]:
            places.setdefault(name, len(places))
        self._places = places
        self._edges = np.asarray(
            [(places[a], places[b]) for a, b in pairs], dtype=np.int64
        ).reshape(-1, 2)
        self._weights = None if weights is None else np.asarray(weights, dtype=np.float64)
        if self._weights is not None and len(self._weights) != len(pairs):
            raise ValueError(f"{len(self._weights)} weights for {len(pairs)} edges")

    @property
    def names(self) -> list[Hashable]:
        """The nodes, in the order of `rows`."""
        return [*self._places]

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, name: Hashable) -> Node:
        try:
            return Node(self, self._places[name])
        except KeyError:
            raise KeyError(f"there is no node {name!r} in this network") from None

    def rows(self, names: Iterable[Hashable] | None = None) -> list[Node]:
        """These nodes, or all, as rows to learn from or to predict."""
        return [self[name] for name in (self.names if names is None else names)]


class Node:
    """A row: one node of a `Network`."""

    __slots__ = ("network", "place")

    def __init__(self, network: Network, place: int) -> None:
        self.network, self.place = network, place

    def __repr__(self) -> str:
        return f"Node({self.network.names[self.place]!r})"


def node_parts(rows: Sequence[Any]) -> tuple[Any, ...]:
    """What `_core` makes a column of nodes of: nodes, edges, weights or None, and which are the rows."""
    if any(not isinstance(row, Node) or row.network is not rows[0].network for row in rows):
        raise ValueError("X holds nodes of different networks; rows are nodes of one")
    network = rows[0].network
    return (
        len(network),
        np.ascontiguousarray(network._edges),
        network._weights,
        [row.place for row in rows],
    )
