"""What training leaves behind: the report, and models as pickles hold them."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from typing import Any, Iterator

from .. import _core
from .html import report_html


def load_model(bytes_: bytes) -> _core.Model:
    """A model from the bytes of a model file: numbers and text only, safe to read."""
    return _core.Model.from_bytes(bytes_)


def load_expression(text: str) -> _core.Expression:
    """A kernel expression from its text."""
    return _core.Expression.parse(text)


copyreg.pickle(_core.Model, lambda model: (load_model, (model.to_bytes(),)))
copyreg.pickle(_core.Expression, lambda kernel: (load_expression, (kernel.text(),)))


class Report(Mapping):
    """The certificate of a training, its entries also attributes.

    Primal and dual value, the gap between them, the worst violation of the optimality conditions,
    counts of support vectors, iterations, time, and the `figures` and `history` of the machine.

    `certifies` says what that proves: "optimum", that it lies between dual and primal; "optimum in the
    span", the same of a machine with ``approximate``, about the approximated kernel; "optimum of each
    cell", that the bracket is a sum over cells, each with one of its own; or, under a
    kernel that is not known to be positive definite on the rows, only a "stationary point", and
    then `primal`, `gap` and `relative_gap` are nan. `convexity` tells how it is known: "by rule",
    "on the sample", "unknown" or "refuted".
    """

    def __init__(self, entries: dict[str, Any]) -> None:
        self._entries = entries

    def __getitem__(self, name: str) -> Any:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._entries:
            raise AttributeError(name)
        return self._entries[name]

    def __repr__(self) -> str:
        shown = ("status", "certifies", "primal", "dual", "relative_gap", "kkt_violation")
        return "Report(" + ", ".join(f"{name}={self[name]!r}" for name in shown) + ")"

    def _repr_html_(self) -> str:
        return report_html(self)


class Told(Exception):
    """What a machine would have told the library, had it not been asked only for that."""

    def __init__(self, task: str, settings: dict[str, Any], y: Any, kernel: Any) -> None:
        super().__init__(task)
        self.task, self.settings, self.y, self.kernel = task, settings, y, kernel
