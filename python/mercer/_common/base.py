"""What all estimators do alike: take data, train, keep the model, predict."""

from __future__ import annotations

import copy
import os
import warnings
import weakref
from inspect import isfunction
from typing import Any

import numpy as np

from .. import _core
from .arrays import check_rows, from_rows, names_of, require_finite, to_rows
from .call import _threads, outside, seed_of
from .compat import BaseEstimator, ConvergenceWarning, NotFittedError
from .html import machine_html
from .kernel_choice import KernelChoice
from .parameters import checked, number
from .progress import ProgressBar
from .report import Report, Told
from .streams import by_blocks
from ..distributed._ranks import is_spread, sums_of_all
from .._kernel.block_kernel import Things, things_in
from ..kernels import BlockKernel, Kernel

#: Up to so many training rows ``precision="auto"`` computes in double: there it costs nothing.
SMALL = 2000
#: Up to so many rows a machine that has met ``tol`` is taken on from there to ``FINEST``, which costs
#: at most about as much again: see `Machine`.
TINY = 200
FINEST = 1e-10
#: What a binding is told and a search is not.
NOT_SEARCHED = ("finest", "trace", "start")

#: Models made ready to predict, by estimator. They are no part of an estimator's state: predicting
#: changes nothing in it, and a copy makes its own.
_ready: weakref.WeakKeyDictionary[Any, tuple[_core.Model, _core.Predictor]] = (
    weakref.WeakKeyDictionary()
)


class Machine(KernelChoice, BaseEstimator):
    """Base of every estimator that trains one of the library's machines.

    Parameters all of them have, where they make sense: ``n_jobs`` (threads; None or −1: all; the
    result is the same for any number), ``time_limit`` (seconds), ``precision`` ("auto", "single" or
    "double" kernel values), ``callback`` (a function of a dict, called as training goes on; return
    False to stop), ``verbose`` (a progress line), ``on_interrupt`` ("raise", or "keep": Ctrl-C
    leaves the machine as far as it got, with its certificate). Support vector machines have
    ``warm_start``: a further ``fit`` on the same rows, with another C, ν or ε, or after a stop, begins
    where the last one ended.

    Where all rows would take too long, ``approximate="nystroem(centres=1000)"`` learns in the span of
    some rows of the data, and ``"cells(rows=2000)"`` learns a machine in each cell of space, with a
    certificate that says so (docs/training.md, "Many rows"); ``"auto"`` does as `mercer.plan` says.
    A machine of cells has no support vectors of its own: ``cells_`` tells of each. ``report_.figures`` then has ``exact_dual`` for support vector machines
    but `NuSVC`: a bound on the optimum under the kernel itself.

    Their ``tol`` is the largest violation of the optimality conditions that is left. It bounds the
    objective, not the answer: two machines within it may differ in the third digit. So on at most
    200 rows, where the last digits cost next to nothing, a machine that has met ``tol`` is taken on
    from there until its answer is sharp (1e-10), and a row of weight 2 is the same as two rows. That
    takes at most about as many steps again and is given up otherwise; ``max_iter`` and
    ``precision="single"`` turn it off, and ``report_.kkt_violation`` says what was reached.
    """

    _task = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Whatever learns looks at its parameters first; answers are given block by block to streams."""
        for name in ("fit", "partial_fit"):
            if name in cls.__dict__:
                setattr(cls, name, checked(cls.__dict__[name]))
        for name in ("predict", "decision_function", "transform", "score_samples"):
            if isfunction(cls.__dict__.get(name)):
                setattr(cls, name, by_blocks(cls.__dict__[name]))
        super().__init_subclass__(**kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self._pairwise_input
        tags.input_tags.pairwise = self._pairwise_input
        return tags

    # ---- training

    def _take(self, X: Any, minimum: int = 1) -> Any:
        """Checked training rows."""
        X = self._checked(X, reset=True, minimum=minimum)
        if self._pairwise_input:
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x"
                    f"{X.shape[1]} matrix."
                )
        return X

    def _checked(self, X: Any, *, reset: bool, minimum: int = 1) -> Any:
        """Rows as `check_rows` gives them; to a function of the user's anything may be a row."""
        if callable(self.kernel) and not isinstance(self.kernel, Kernel):
            things = things_in(X)
            if things is not None:
                if reset:
                    self.n_features_in_ = 1
                return things
        return check_rows(self, X, reset=reset, minimum=minimum)

    def _train(
        self,
        X: Any,
        y: np.ndarray | None = None,
        weights: np.ndarray | None = None,
        targets: np.ndarray | None = None,
        task: str = "",
        classes: np.ndarray | None = None,
        target_names: list[str] | None = None,
        **settings: Any,
    ) -> _core.Model:
        """Trains on checked data and keeps the model, which knows the classes by their names."""
        kernel = self._resolve_kernel(X, weights)
        settings.update(self._common_settings(int(sums_of_all(X.shape[0]))))
        if self.__dict__.get("_is_only_asked"):
            raise Told(task or self._task, settings, y, kernel)
        rows, expression = self._kernel_rows(kernel, X)
        settings.update(self._begin_from(X.shape[0]))
        keep = getattr(self, "on_interrupt", "raise")
        if keep not in ("raise", "keep"):
            raise ValueError(f"on_interrupt = {keep!r} must be 'raise' or 'keep'")
        callback, bar = self._listener()
        columns = self._column_names(rows)
        called = ([], []) if classes is None else names_of(classes)
        taken = self.__dict__.get("_steps_taken")
        if taken is not None:
            settings["trace"] = True

        with _threads(getattr(self, "n_jobs", None)):
            try:
                if "_cell_search" in self.__dict__:
                    self._model, self._cells_found = self._search_cells(
                        task or self._task, expression, settings, rows, y, columns, called, callback
                    )
                else:
                    self._model = _core.fit(
                        task or self._task, expression, settings, rows, y, targets, weights, columns,
                        callback, keep == "keep", *called, taken, target_names or [],
                    )  # fmt: skip
            finally:
                if bar is not None:
                    bar.close()
        self.report_ = Report(self._model.report())
        self._warn_of_report()
        return self._model

    def _search_cells(
        self, task: str, expression: Any, settings: dict[str, Any], rows: Any, y: Any, columns: Any,
        called: Any, callback: Any,
    ) -> Any:  # fmt: skip
        """Learns in cells, each with the settings that a search over its own folds finds."""
        if y is None:
            raise ValueError("a search in cells is judged by labels, one a row")
        asked = self._cell_search
        told = {k: v for k, v in settings.items() if k not in NOT_SEARCHED}
        return _core.tune_cells(
            task, asked["kernel"] or expression.text(), told, asked["axes"], asked["how"], rows,
            np.ascontiguousarray(y, dtype=np.float64), columns, *called, callback,
        )  # fmt: skip

    @property
    def cells_(self) -> list[dict[str, Any]]:
        """Of a machine with ``approximate="cells(...)"`` one dict a cell: its ``state`` ("learnt",
        "one-class", "refused" or "not-reached"), ``rows`` and, where it was learnt, ``kernel``, ``C``,
        ``support_vectors`` and ``report``; empty for others."""
        self._check_fitted()
        return self._model.cells()

    def _warn_of_report(self) -> None:
        violation = self.report_.kkt_violation
        if not violation <= getattr(self, "tol", 0.0):
            self._warn_unless_converged(f"violation {violation:.2e}")
        self._warn_of_stationary_point()

    def _warn_of_stationary_point(self) -> None:
        if self.report_.certifies == "stationary point":
            least, off = self.report_.least_curvature, self.report_.curvature_error
            found = f" (its smallest eigenvalue that matters is {least:.3g})" if off > 0 else ""
            warnings.warn(
                f"{type(self).__name__}: the kernel is not known to be positive definite on these "
                f"rows{found}: the machine is a stationary point and report_ has no gap.",
                UserWarning,
                stacklevel=outside(),
            )

    def _warn_unless_converged(self, how_far: str) -> None:
        nothing = self.report_.status in ("not separable", "no margin found")
        if not self.report_.converged and not nothing:
            warnings.warn(
                f"{type(self).__name__}: {self.report_.status}; {how_far}. The machine is valid "
                "and report_ says how far it is from the optimum.",
                ConvergenceWarning,
                stacklevel=outside(),
            )

    def _begin_from(self, rows: int) -> dict[str, Any]:
        """With ``warm_start`` the machine of the last fit, where it was of as many rows and the same
        classes."""
        classes = getattr(self, "classes_", np.empty(0)).tolist()
        kind = (self._task, rows, classes)
        before, self._kind = self.__dict__.get("_kind"), kind
        if not getattr(self, "warm_start", False) or before != kind or "_model" not in self.__dict__:
            return {}
        return {"start": self._model}

    def _kernel_rows(self, kernel: Any, X: Any) -> tuple[_core.Rows, _core.Expression]:
        """Rows and expression to train with: a function of the user's becomes a matrix first."""
        if isinstance(kernel, BlockKernel):
            if is_spread():
                raise ValueError(
                    "a kernel that is a function sees the rows of one process only: several take the "
                    "kernels of mercer, by name, text or object"
                )
            self._rows_kept = X.copy()
            self._block_kernel = kernel
            return to_rows(self._block_matrix(X, X)), _core.Expression.parse("precomputed")
        self.__dict__.pop("_rows_kept", None)
        self.__dict__.pop("_block_kernel", None)
        return to_rows(X), kernel._expression

    def _column_names(self, rows: _core.Rows) -> list[str]:
        """What a frame called the columns; nothing where the rows are those of a matrix."""
        objects = getattr(self, "_kinds", {})
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        names = [name for name in names if name not in objects]
        return names if len(names) == rows.columns else []

    def _block_matrix(self, X: Any, Z: Any) -> np.ndarray:
        values = np.asarray(self._block_kernel(X, Z), dtype=np.float64)
        if values.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                f"the kernel returned shape {values.shape} for {X.shape[0]} and {Z.shape[0]} rows"
            )
        require_finite(values, "the kernel matrix")
        return values

    def _cache_bytes(self) -> int:
        """``cache_size``, which is in MiB."""
        if not 0 < self.cache_size < 2**40:
            raise ValueError(f"cache_size = {self.cache_size} must be a number of MiB above 0")
        return int(self.cache_size * 2**20)

    def _tolerance(self, rows: int) -> dict[str, Any]:
        """What a support vector machine is solved to, and what it is then refined to."""
        if not self.tol > 0:
            raise ValueError(f"tol = {self.tol} must be a number above 0")
        free = self.max_iter <= 0 and getattr(self, "precision", "") != "single"
        few = rows <= TINY and free and self.tol > FINEST
        return {"tolerance": float(self.tol), "finest": FINEST if few else 0.0}

    def _common_settings(self, rows: int) -> dict[str, Any]:
        precision = getattr(self, "precision", "auto")
        if precision not in ("auto", "single", "double"):
            raise ValueError(f"precision = {precision!r} must be 'auto', 'single' or 'double'")
        limit = getattr(self, "time_limit", None)
        if limit is not None and not limit > 0:
            raise ValueError(f"time_limit = {limit} must be a number of seconds above 0, or None")
        span = getattr(self, "approximate", None)
        return {
            **({"approximate": span} if span else {}),
            "double_precision": precision == "double" or (precision == "auto" and rows <= SMALL),
            "time_limit": None if limit is None or limit == float("inf") else float(limit),
            "seed": seed_of(getattr(self, "random_state", None)),
        }

    def _listener(self) -> tuple[Any, ProgressBar | None]:
        callback = getattr(self, "callback", None)
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be a function, not {type(callback).__name__}")
        if not getattr(self, "verbose", False):
            return callback, callback if isinstance(callback, ProgressBar) else None
        bar = ProgressBar()
        if callback is None:
            return bar, bar

        def both(moment: dict[str, Any]) -> Any:
            bar(moment)
            return callback(moment)

        return both, bar

    # ---- after training

    def _check_fitted(self) -> None:
        if "_model" not in self.__dict__:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _rows_to_predict(self, X: Any) -> _core.Rows:
        self._check_fitted()
        X = self._checked(X, reset=False)
        if "_block_kernel" not in self.__dict__:
            return to_rows(X)
        if isinstance(X, Things):
            return to_rows(self._block_matrix(X, self._rows_kept))
        # Only the columns of points that matter are computed; the others are never read.
        used = self._model.origins
        values = np.zeros((X.shape[0], self._rows_kept.shape[0]))
        values[:, used] = self._block_matrix(X, self._rows_kept[used])
        return to_rows(values)

    def _decision(self, X: Any) -> np.ndarray:
        rows = self._rows_to_predict(X)
        with _threads(getattr(self, "n_jobs", None)):
            return self._predictor().decision(rows)

    def _predictor(self) -> _core.Predictor:
        """The model made ready to predict; made anew when the model is another one."""
        kept = _ready.get(self)
        if kept is None or kept[0] is not self._model:
            kept = _ready[self] = (self._model, _core.Predictor(self._model))
        return kept[1]

    def _probabilities(self, X: Any) -> np.ndarray:
        rows = self._rows_to_predict(X)
        with _threads(getattr(self, "n_jobs", None)):
            return self._predictor().probabilities(rows)

    def _points(self) -> Any:
        """The points of the expansion, empty where only a matrix is known of them."""
        if "_rows_kept" in self.__dict__:
            if isinstance(self._rows_kept, Things):
                return np.empty((0, 0))
            return self._rows_kept[self._model.origins]
        if self._pairwise_input:
            return np.empty((0, 0))
        if getattr(self, "_kinds", None):
            return self._structured_points()
        return from_rows(self._model.points(), self._model.columns)

    def _structured_points(self) -> np.ndarray:
        """Texts, one per point, or a tuple of them; graphs are not given back."""
        columns = [column for column in self._model.texts().values() if column]
        points = np.empty(len(columns[0]) if columns else 0, dtype=object)
        for i, values in enumerate(zip(*columns)):
            points[i] = values if len(columns) > 1 else values[0]
        return points

    @property
    def kernel_(self) -> Kernel | BlockKernel:
        """The kernel with everything settled that it left to the data."""
        self._check_fitted()
        return self.__dict__.get("_block_kernel") or Kernel(self._model.kernel)

    def reduced(
        self,
        n_vectors: int | None = None,
        *,
        error: float | None = None,
        method: str = "greedy",
        joint: bool = True,
        max_iter: int = 100,
    ) -> Any:
        """A copy of this machine with fewer vectors, as near to it in feature space as can be.

        Parameters
        ----------
        n_vectors : int, optional
            So many vectors, shared by all classes and outputs.
        error : float, optional
            Instead: as few as keep the squared distance below this share of the squared norm.
        method : {"greedy", "l1", "sequential"}
            Vectors of the machine, each the best beside those before; those that an L1 penalty leaves; or
            new ones, pre-images of what is left.
        joint : bool
            Move all vectors together afterwards, which needs a kernel with a derivative.
        max_iter : int
            Steps in which all vectors are moved together, at most.

        Returns
        -------
        A fitted machine of the same class, whose ``report_.figures`` say what was lost.
        """
        self._check_fitted()
        if (n_vectors is None) == (error is None):
            raise ValueError("give either n_vectors or error")
        if "_block_kernel" in self.__dict__ or self._pairwise_input:
            raise ValueError("vectors can only be moved under kernels of rows, not of a matrix")
        vectors = 0 if n_vectors is None else int(number("n_vectors", n_vectors))
        share = 0.0 if error is None else number("error", error)
        if (vectors if error is None else share) <= 0:
            given = f"n_vectors = {n_vectors}" if error is None else f"error = {error}"
            raise ValueError(f"{given} must be above 0")
        small = copy.copy(self)
        with _threads(getattr(self, "n_jobs", None)):
            small._model = _core.reduced(
                self._model, vectors, share, method, bool(joint), int(number("max_iter", max_iter))
            )
        parts = [part["figures"] for part in small._model.reports()]
        lost = {n: sum(part[n] for part in parts) for n in ("squared_norm", "squared_distance")}
        small.report_ = Report({**small._model.report(), "figures": lost})
        for name in ("support_", "support_vectors_", "n_support_", "dual_coef_", "code_indices_"):
            small.__dict__.pop(name, None)  # they told of the training rows
        return small

    def save(self, path: str) -> None:
        """Writes the model file that the command line, C++ and `mercer.load` read.

        A kernel that is a function of Python's cannot be written into a file that others evaluate:
        such a machine is kept by `pickle`.
        """
        self._check_fitted()
        if "_block_kernel" in self.__dict__:
            raise ValueError(
                f"{type(self).__name__}: the kernel is a Python function, which a model file cannot "
                "hold; pickle the estimator instead, or write the kernel as an expression of "
                "mercer.kernels"
            )
        self._model.save(os.fspath(path))

    def _repr_html_(self) -> str:
        """How a notebook shows it: as scikit-learn does, and of a fitted machine the certificate."""
        inner = getattr(super(), "_repr_html_", None)
        plain = inner() if inner is not None else ""
        return machine_html(self, plain) if self.__sklearn_is_fitted__() else plain

    def _after_loading(self) -> None:
        """Reads off a model from a file what predictions need besides the model itself."""


__all__ = ["NOT_SEARCHED", "Machine", "Report", "Told", "_threads", "seed_of"]
