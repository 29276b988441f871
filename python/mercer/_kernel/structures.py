"""Texts and graphs as Python people have them, beside numbers or alone."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .. import _core
from .network import Node, node_parts

#: Data this module is for: see `structured`.
Columns = dict[str, Any]


class Structured:
    """Rows with named columns of texts or graphs, and numbers beside them or none.

    Attributes
    ----------
    numbers : array of shape (n_samples, n_numbers)
    texts : dict from names to lists of str
    graphs : dict from names to lists of graphs, as `graph_of` takes them, or of nodes
    """

    def __init__(self, numbers: np.ndarray, texts: Columns, graphs: Columns) -> None:
        self.numbers, self.texts, self.graphs = numbers, texts, graphs

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of any kind."""
        return len(self.numbers), self.numbers.shape[1] + len(self.texts) + len(self.graphs)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> "Structured":
        """Some of the rows, by an array of positions or a slice."""
        places = np.arange(len(self))[rows]

        def chosen(columns: Columns) -> Columns:
            return {name: [values[i] for i in places] for name, values in columns.items()}

        return Structured(self.numbers[places], chosen(self.texts), chosen(self.graphs))

    def copy(self) -> "Structured":
        return self[:]

    @property
    def kinds(self) -> dict[str, str]:
        """What each named column holds."""
        kinds = dict.fromkeys(self.texts, "texts") | dict.fromkeys(self.graphs, "graphs")
        for name, column in self.graphs.items():
            if isinstance(column[0], Node):
                kinds[name] = "nodes"
        return kinds

    def rows(self) -> _core.Rows:
        """As the library takes them."""
        numbers = np.ascontiguousarray(self.numbers, dtype=np.float64)
        columns: list[tuple[str, Any]] = [*self.texts.items()]
        for name, graphs in self.graphs.items():
            nodes = isinstance(graphs[0], Node)
            columns.append((name, node_parts(graphs) if nodes else graphs))
        return _core.Rows.structured(numbers, columns, lambda graph: graph_of(graph).parts())


class Graph:
    """A graph: how many nodes, its edges, and labels or numbers of the nodes where there are any."""

    def __init__(
        self,
        nodes: int,
        edges: np.ndarray,
        node_labels: Sequence[int] | None = None,
        edge_labels: Sequence[int] | None = None,
        attributes: np.ndarray | None = None,
    ) -> None:
        self.nodes = nodes
        if not isinstance(edges, np.ndarray) or edges.dtype != np.int64 or edges.ndim != 2:
            edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        self.edges = edges
        self.node_labels = None if node_labels is None else [*node_labels]
        self.edge_labels = None if edge_labels is None else [*edge_labels]
        self.attributes = attributes

    def parts(self) -> tuple[Any, ...]:
        """What `_core` makes a graph of."""
        edges = np.ascontiguousarray(self.edges)
        # Below 0 is beyond all nodes, taken without a sign.
        if edges.size and edges.view(np.uint64).max() >= self.nodes:
            strange = edges.min() if edges.min() < 0 else edges.max()
            raise ValueError(f"an edge of a graph of {self.nodes} nodes names node {strange}")
        attributes = self.attributes
        if attributes is not None:
            attributes = np.ascontiguousarray(attributes, dtype=np.float64).reshape(self.nodes, -1)
        return (
            self.nodes,
            edges,
            _numbers(self.node_labels),
            _numbers(self.edge_labels),
            attributes,
        )


def structured(X: Any) -> Structured | None:
    """X as rows with texts or graphs; None when it is made of numbers alone.

    Parameters
    ----------
    X : list, tuple, 1-d array or column of str; list of graphs; frame with columns of text
        A graph is one of NetworkX, or a pair (edges, labels): pairs of nodes counted from 0, and the
        label of each node, numbers or text, or None; or a triple with labels of the edges. GraKeL's
        ways of saying it are understood: dictionaries, and matrices with a row for each node.
    """
    if isinstance(X, Structured):
        return X
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return _from_frame(X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS":
        return _from_table(X)
    if hasattr(X, "tocsr") or (isinstance(X, np.ndarray) and X.ndim != 1):
        return None
    if not hasattr(X, "__len__") or len(X) == 0 or isinstance(X, (str, bytes, Mapping)):
        return None
    values = X.tolist() if hasattr(X, "tolist") else [*X]
    name = getattr(X, "name", None)
    nothing = np.empty((len(values), 0))
    if any(isinstance(value, str) for value in values):
        return Structured(nothing, {str(name or "text"): _texts(values, "X")}, {})
    if all(_is_graph(value) for value in values):
        usual = "node" if isinstance(values[0], Node) else "graph"
        return Structured(nothing, {}, {str(name or usual): values})
    return None


def _texts(values: Iterable[Any], where: str) -> list[str]:
    texts = [*values]
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"{where} holds {text!r} at row {i} among texts: leave the row out or make it a text"
            )
    return texts


def _from_frame(X: Any) -> Structured | None:
    """Columns of text, and the others as numbers."""
    texts: Columns = {}
    graphs: Columns = {}
    numbers = []
    for name in X.columns:
        column = X[name]
        values = column.tolist() if hasattr(column, "tolist") else column.to_list()
        if any(isinstance(value, str) for value in values):
            texts[str(name)] = _texts(values, f"the column {name!r}")
        elif values and all(_is_graph(value) for value in values):
            graphs[str(name)] = values
        else:
            numbers.append(np.asarray(column, dtype=np.float64))
    if not texts and not graphs:
        return None
    table = np.column_stack(numbers) if numbers else np.empty((len(X), 0))
    return Structured(table, texts, graphs)


def _from_table(X: np.ndarray) -> Structured | None:
    """An array of objects: columns that hold text are texts, named after their places."""
    texts: Columns = {}
    numbers = []
    for j in range(X.shape[1]):
        values = X[:, j].tolist()
        if any(isinstance(value, str) for value in values):
            texts[f"x{j}"] = _texts(values, f"column {j}")
        else:
            numbers.append(np.asarray(values, dtype=np.float64))
    if not texts:
        return None
    return Structured(
        np.column_stack(numbers) if numbers else np.empty((len(X), 0)), texts, {}
    )


def _is_graph(value: Any) -> bool:
    if isinstance(value, (Graph, Node)) or (hasattr(value, "edges") and hasattr(value, "nodes")):
        return True
    if not isinstance(value, (tuple, list)) or not 1 < len(value) < 4:
        return False
    return (value[1] is None or isinstance(value[1], (Mapping, list, tuple, np.ndarray))) and isinstance(
        value[0], (list, tuple, set, frozenset, Mapping, np.ndarray)
    )


def graph_of(value: Any) -> Any:
    """A graph of NetworkX, or (edges, node labels[, edge labels]), as `structured` says; nodes stay what
    they are."""
    if isinstance(value, (Graph, Node)):
        return value
    if hasattr(value, "edges"):
        return _from_networkx(value)
    pairs, labels = _edges_of(value[0], value[1]), value[1]
    if type(labels) is list and len(value) == 2:
        return Graph(len(labels), pairs, labels)
    more = value[2] if len(value) > 2 else None
    if isinstance(more, Mapping) and not more:  # GraKeL's way of saying that there are none
        more = None
    if isinstance(more, Mapping):
        try:
            more = [more[tuple(pair)] for pair in pairs]
        except KeyError as missing:
            raise ValueError(f"a graph has an edge {missing} and no label of it") from None
    if labels is None:
        names = sorted({node for pair in pairs for node in pair})
        whole = all(isinstance(name, (int, np.integer)) for name in names)
        labels = None if whole else dict.fromkeys(names)
    if not isinstance(labels, Mapping):
        edges = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        nodes = len(labels) if labels is not None else int(edges.max(initial=-1)) + 1
        return Graph(nodes, edges, labels, more)
    places = {node: place for place, node in enumerate(labels)}
    try:
        edges = np.asarray([(places[a], places[b]) for a, b in pairs], dtype=np.int64)
    except KeyError as missing:
        raise ValueError(f"a graph has an edge to node {missing} and no label of it") from None
    own = [*labels.values()]
    unlabelled = all(label is None for label in own)
    return Graph(len(own), edges.reshape(-1, 2), None if unlabelled else own, more)


def _edges_of(given: Any, labels: Any) -> Any:
    """Pairs of nodes, of a list of them, a dictionary (GraKeL) or a square matrix of weights."""
    if isinstance(given, Mapping):
        if all(isinstance(key, tuple) for key in given):
            return [(a, b) for a, b in given]
        return [(a, b) for a, around in given.items() for b in around]
    if isinstance(given, (list, tuple)) and type(labels) is list:
        # The common case in one go; anything else is looked at below.
        try:
            if {*map(len, given)} == {2}:
                return np.fromiter(chain.from_iterable(given), np.int64).reshape(-1, 2)
        except (TypeError, ValueError):
            pass
    table = [*given]
    rows = [row for row in table if isinstance(row, (list, np.ndarray))]
    if len(rows) == len(table) > 2 and all(len(row) == len(table) for row in rows):
        names = [*labels] if isinstance(labels, Mapping) else range(len(table))
        return [
            (names[a], names[b]) for a, row in enumerate(rows) for b, w in enumerate(row) if w
        ]
    for edge in table:
        if len(edge) != 2:
            raise ValueError(
                f"an edge of a graph is a pair of nodes, not {tuple(edge)!r}; a matrix of weights "
                "must have a row and a column for each node"
            )
    return [(edge[0], edge[1]) for edge in table]


def _from_networkx(graph: Any) -> Graph:
    nodes = [*graph.nodes(data=True)]
    places = {node: place for place, (node, _) in enumerate(nodes)}
    edges = [*graph.edges(data=True)]
    labels = [data.get("label") for _, data in nodes]
    names = [data.get("label") for _, _, data in edges]
    return Graph(
        len(nodes),
        np.asarray([(places[a], places[b]) for a, b, _ in edges], dtype=np.int64).reshape(-1, 2),
        None if any(label is None for label in labels) else labels,
        None if not names or any(name is None for name in names) else names,
    )


def _numbers(labels: Any) -> list[int] | None:
    if labels is None or {*map(type, labels)} <= {int}:
        return labels
    return [_number(label) for label in labels]


def _number(label: Any) -> int:
    """A label as a number; a text as the beginning of its hash, the same in every program."""
    if isinstance(label, (int, np.integer)):
        return int(label)
    digest = hashlib.blake2b(str(label).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
