"""The search for the best settings, over the library's own: kernel values shared, warm starts."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import to_rows
from .._common.base import NOT_SEARCHED, Machine, Told, _threads, seed_of
from .._common.call import outside
from .._common.compat import HAVE_SKLEARN, BaseEstimator, NotFittedError, available_if
from .._common.parameters import PARAMETER_OF
from ..kernels import BlockKernel, Kernel
from .pipelines import Chain, chain_of, search_points

#: Scikit-learn's names of scores, beside the library's own.
MEASURES = {
    "balanced_accuracy": "balanced-accuracy",
    "roc_auc": "auc",
    "neg_log_loss": "log-loss",
    "neg_mean_squared_error": "mse",
    "neg_mean_absolute_error": "mae",
}


def _clone(estimator: Any) -> Any:
    if HAVE_SKLEARN:
        from sklearn.base import clone

        return clone(estimator)
    return type(estimator)(**estimator.get_params(deep=False))


def told_by(
    estimator: Machine, X: Any, y: Any, spans: bool = False
) -> tuple[Machine, Told, Any]:
    """What `fit` would tell the library, the machine that was asked, and the rows it took.

    Machines that do not learn from all rows as one are refused unless ``spans``.
    """
    asked = _clone(estimator)
    asked._is_only_asked = True
    try:
        asked.fit(X, y)
    except Told as told:
        del asked._is_only_asked
        if told.settings.get("approximate") and not spans:
            raise ValueError(
                f"approximate = {asked.approximate!r}: this trains machines of all rows; set it for the "
                "machine that is trained with what was found"
            )
        return asked, told, asked._checked(X, reset=False)
    raise TypeError(f"{type(estimator).__name__} is no machine that a search can train")


def _finds(method: str) -> Any:
    """Whether the machine that is searched for has a method of this name."""

    def check(search: Any) -> bool:
        getattr(search.__dict__.get("best_estimator_", search.estimator), method)
        return True

    return check


class SearchCV(BaseEstimator):
    """The settings and kernel parameters that predict best on rows held out.

    As scikit-learn's GridSearchCV, for machines of this package: kernel values are shared over all
    penalties, folds and pairs of classes, and machines begin where their neighbours ended. The scores
    are those of independent training within its tolerance.

    Parameters
    ----------
    estimator : a machine with labels, or a pipeline that ends in one
        Of a scikit-learn Pipeline parameters are named as there (``"svc__C"``). Steps are learnt from the
        training rows of each fold; behind a `FeatureScaling` kernel values are shared as without it,
        behind other steps every point is trained by itself.
    param_grid : dict, optional
        Values by parameter: a list, or text of the command line such as ``"0.1:1000:log5"`` (five, each
        the same multiple of the one before) or ``"0:1:11"``. Of a kernel that is an expression its own
        parameters may be named (``"sigma"``, ``"gamma#2"``: the second, ``"kernel.nu"``), and ``$name`` in
        the kernel's text stands for an axis of whole numbers. A list of kernels under "kernel" searches
        each. None: a search over the usual parameters, begun at the median distance of the rows and
        widened where the best lies at an edge.
    method : {"grid", "random", "halving", "bayesian"}
    n_iter : int
        Points of all methods but the grid.
    cv : int or array of shape (n_samples,)
        How many folds, or the fold of every row.
    repeats : int
        Drawings of the folds.
    scoring : str, optional
        "accuracy", "balanced_accuracy", "f1", "roc_auc", "neg_log_loss", "neg_mean_squared_error",
        "neg_mean_absolute_error", "r2"; None: the usual one.
    one_standard_error : bool
        Choose the plainest machine within one standard error of the best.
    journal : str
        A file to which every result is appended; a search that was interrupted goes on from it.
    refit : bool
        Train the best machine on all rows.

    Attributes
    ----------
    best_estimator_, best_params_, best_score_, best_index_, cv_results_, n_splits_, refit_time_
        As GridSearchCV has them; what is better the smaller is negative.
    remarks_ : list of str
        What more would help, of a search without a grid.
    cell_results_ : dict of arrays, one entry a cell
        Of a machine with ``approximate="cells(...)"``, in place of ``cv_results_``: each cell chooses by
        folds of its own rows, ``best_params_`` is empty, and ``best_score_`` is the mean over the cells by
        their rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC, SearchCV
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> search = SearchCV(SVC(), {"C": [1, 10, 100], "gamma": "0.01:10:log4"}).fit(X, y)
    >>> search.best_score_ > .9, sorted(search.best_params_)
    (True, ['C', 'gamma'])
    >>> search.predict([[1., 1.]]).tolist()
    [True]
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any = None,
        *,
        method: str = "grid",
        n_iter: int = 60,
        cv: Any = 5,
        repeats: int = 1,
        scoring: str | None = None,
        one_standard_error: bool = False,
        journal: str = "",
        refit: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.method = method
        self.n_iter = n_iter
        self.cv = cv
        self.repeats = repeats
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.journal = journal
        self.refit = refit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    # ---- the search

    def fit(self, X: Any, y: Any, groups: Any = None) -> "SearchCV":
        """Searches, and trains the best machine on all rows.

        Parameters
        ----------
        groups : array of shape (n_samples,), optional
            Rows of one group are never on both sides.

        Returns
        -------
        self
        """
        chain = chain_of(self.estimator)
        if str(getattr(chain.machine, "approximate", None) or "").startswith("cells"):
            return self._fit_cells(chain, X, y, groups)
        if chain.shares(self.param_grid):
            self._fit_shared(chain, X, y, groups)
        else:
            found = search_points(self, chain, X, y, groups)
            means = found["scores"].mean(axis=1)
            self._keep(found["params"], found["scores"], means, int(np.argmax(means)))
            self.scorer_, self.remarks_ = found["scorer"], []
            done = [""] * len(means)
            self.cv_results_ = self._table(
                found["params"], found["scores"], means, found["seconds"], done
            )
        if self.refit:
            begun = time.perf_counter()
            self.best_estimator_ = _clone(self.estimator).set_params(**self.best_params_).fit(X, y)
            self.refit_time_ = time.perf_counter() - begun
            if hasattr(self.best_estimator_, "n_features_in_"):
                self.n_features_in_ = self.best_estimator_.n_features_in_
        return self

    def _fit_cells(self, chain: Chain, X: Any, y: Any, groups: Any) -> "SearchCV":
        """Every cell chooses for itself: there is one machine, and no table of points."""
        if chain.machine is not self.estimator:
            raise ValueError("a search in cells takes a machine alone, without steps before it")
        grid = dict(self.param_grid or {})
        if "kernel" in grid:
            raise ValueError("a search in cells has one kernel, whose parameters may be searched")
        if self.journal:
            raise ValueError("a search in cells keeps no journal")
        machine = _clone(self.estimator)
        pattern = (
            machine.kernel if isinstance(machine.kernel, str) and "$" in machine.kernel else ""
        )
        if pattern:
            machine.set_params(kernel="linear")
        names = {name: self._axis_name(name, machine._task) for name in grid}
        axes = [f"{names[name]}={_values_text(name, values)}" for name, values in grid.items()]
        machine._cell_search = {"kernel": pattern, "axes": axes, "how": self._how(groups, X)}
        begun = time.perf_counter()
        with _threads(self.n_jobs):
            machine.fit(X, y)
        self.refit_time_ = time.perf_counter() - begun
        found = machine.__dict__.pop("_cells_found")
        del machine._cell_search
        if pattern:
            machine.set_params(kernel=pattern)
        back = {axis: name for name, axis in names.items()}
        sign = 1.0 if found["larger_is_better"] else -1.0
        self.cell_results_ = {
            "rows": found["rows"],
            "score": sign * found["scores"],
            **{
                f"param_{back.get(axis, axis)}": found["values"][:, k]
                for k, axis in enumerate(found["axes"])
            },
        }
        self.best_estimator_, self.best_params_ = machine, {}
        self.best_score_, self.n_splits_ = sign * found["score"], found["folds"]
        self.scorer_, self.remarks_, self.multimetric_ = found["measure"], [], False
        self.n_features_in_ = machine.n_features_in_
        return self

    def _fit_shared(self, chain: Chain, X: Any, y: Any, groups: Any) -> None:
        grid = {name[len(chain.prefix) :]: v for name, v in (self.param_grid or {}).items()}
        kernels = grid.pop("kernel", None)
        found: list[tuple[dict[str, Any], Any]] = []
        for kernel in [None] if kernels is None else kernels:
            machine = _clone(chain.machine)
            if kernel is not None:
                machine.set_params(kernel=kernel)
            found.append((self._search(machine, grid, X, y, groups, chain.scaling), kernel))
        self._read(found, chain)

    def _search(
        self, machine: Machine, grid: Mapping[str, Any], X: Any, y: Any, groups: Any, scaling: str
    ) -> dict[str, Any]:
        pattern = (
            machine.kernel if isinstance(machine.kernel, str) and "$" in machine.kernel else None
        )
        if pattern is not None:
            machine.set_params(kernel="linear")
        asked, told, rows = told_by(machine, X, y, spans=True)
        if told.settings.get("approximate") == "auto":
            raise ValueError("approximate = 'auto': a search is told which; mercer.plan says it")
        if told.y is None:
            raise ValueError(
                f"{type(machine).__name__} learns without labels: there is nothing to score"
            )
        if isinstance(told.kernel, BlockKernel):
            raise TypeError(
                "SearchCV shares kernel values: it needs a kernel expression, not a function"
            )
        names = {name: self._axis_name(name, told.task) for name in grid}
        axes = [f"{names[name]}={_values_text(name, values)}" for name, values in grid.items()]
        settings = {k: v for k, v in told.settings.items() if k not in NOT_SEARCHED}
        if scaling:
            settings["scaling"] = scaling
        taken = to_rows(rows)
        with _threads(self.n_jobs):
            result = _core.tune(
                told.task, pattern or str(told.kernel), settings, axes, self._how(groups, taken),
                taken, np.ascontiguousarray(told.y, dtype=np.float64), asked._column_names(taken),
                self.callback,
            )  # fmt: skip
        result["names"] = {axis: name for name, axis in names.items()}
        result["by_kernel"] = pattern is not None
        return result

    def _axis_name(self, name: str, task: str) -> str:
        """The library's name of a parameter: "lambda" or "noise" of alpha."""
        settings = next(names for known, _, names in _core.machines() if known == task)
        if name in settings:
            return name
        for setting, parameters in PARAMETER_OF.items():
            if name in parameters and setting in settings:
                return setting
        return name

    def _how(self, groups: Any, rows: Any) -> dict[str, Any]:
        how: dict[str, Any] = {
            "method": self.method,
            "points": int(self.n_iter),
            "repeats": int(self.repeats),
            "measure": MEASURES.get(self.scoring or "", self.scoring),
            "one_standard_error": bool(self.one_standard_error),
            "journal": str(self.journal),
            "seed": seed_of(self.random_state),
        }
        if np.ndim(self.cv) == 1:
            return {**how, "folding": "given", "keys": [str(fold) for fold in self.cv]}
        how["folds"] = self.folds()
        if groups is not None:
            how.update(folding="grouped", keys=[str(group) for group in groups])
        return how

    def folds(self) -> int:
        """How many there are, where ``cv`` says so."""
        if not isinstance(self.cv, (int, np.integer)) or self.cv < 2:
            raise ValueError(
                f"cv = {self.cv!r} must be a whole number, 2 or more, or the fold of every row"
            )
        return int(self.cv)

    # ---- what it found

    def _read(self, found: list[tuple[dict[str, Any], Any]], chain: Chain) -> None:
        sign = 1.0 if found[0][0]["larger_is_better"] else -1.0
        params, scores, times, status = [], [], [], []
        chosen: list[int] = []
        for result, kernel in found:
            if result["best"] is not None:
                chosen.append(len(params) + int(result["best"]))
            for i, values in enumerate(result["values"]):
                point = self._point(chain.machine, result, kernel, i, values)
                params.append({chain.prefix + name: value for name, value in point.items()})
            scores.append(sign * result["scores"])
            times.append(result["seconds"])
            status += result["status"]
        table = np.vstack(scores)
        means = np.concatenate([sign * result["mean"] for result, _ in found])
        if not chosen:
            raise ValueError(f"no point of the search has a score: {status[0]}")
        self._keep(params, table, means, max(chosen, key=lambda i: means[i]))
        self.scorer_ = self.scoring or found[0][0]["measure"]
        self.remarks_ = [remark for result, _ in found for remark in result["remarks"]]
        self.cv_results_ = self._table(params, table, means, np.concatenate(times), status)
        if any(result["cancelled"] for result, _ in found):
            warnings.warn("the search was stopped; what was done is kept", stacklevel=outside())

    def _keep(
        self, params: list[dict[str, Any]], table: np.ndarray, means: np.ndarray, best: int
    ) -> None:
        self.best_index_ = best
        self.best_params_ = params[best]
        self.best_score_ = float(means[best])
        self.n_splits_ = table.shape[1]
        self.multimetric_ = False

    @staticmethod
    def _point(
        machine: Machine, result: dict[str, Any], kernel: Any, i: int, values: np.ndarray
    ) -> dict[str, Any]:
        """Parameters of the machine: those of an expression come as the kernel itself."""
        own = machine.get_params(deep=False)
        named = isinstance(kernel if kernel is not None else machine.kernel, str)
        point: dict[str, Any] = {} if kernel is None else {"kernel": kernel}
        for axis, value in zip(result["axes"], values):
            name = result["names"].get(axis) or next(iter(PARAMETER_OF.get(axis, ())), axis)
            name = name if name in own else axis
            of_kernel = name in ("gamma", "coef0", "degree") and (not named or result["by_kernel"])
            if name in own and not of_kernel:
                point[name] = float(value)
            else:
                point["kernel"] = Kernel(result["kernels"][i])
        return point

    def _table(
        self,
        params: list[dict[str, Any]],
        table: np.ndarray,
        means: np.ndarray,
        times: Any,
        status: Any,
    ) -> dict[str, Any]:
        order = np.where(np.isnan(means), -np.inf, means)
        results: dict[str, Any] = {
            "params": params,
            "mean_test_score": means,
            "std_test_score": np.std(table, axis=1),
            "rank_test_score": np.array([1 + int((order > value).sum()) for value in order]),
            "mean_fit_time": np.asarray(times) / max(1, table.shape[1]),
            "status": status,
        }
        for fold in range(table.shape[1]):
            results[f"split{fold}_test_score"] = table[:, fold]
        for name in sorted({name for point in params for name in point}):
            column = np.ma.masked_all(len(params), dtype=object)
            for i, point in enumerate(params):
                if name in point:
                    column[i] = point[name]
            results[f"param_{name}"] = column
        return results

    # ---- the best machine's answers

    def _best(self) -> Any:
        if "best_estimator_" not in self.__dict__:
            raise NotFittedError(
                "This SearchCV instance is not fitted yet, or with refit=False: call 'fit' first"
            )
        return self.best_estimator_

    def __sklearn_is_fitted__(self) -> bool:
        return "best_estimator_" in self.__dict__

    @property
    def classes_(self) -> np.ndarray:
        """Of the best machine."""
        return self._best().classes_

    def predict(self, X: Any) -> np.ndarray:
        """What the best machine predicts."""
        return self._best().predict(X)

    @available_if(_finds("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """What the best machine decides by."""
        return self._best().decision_function(X)

    @available_if(_finds("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities by the best machine."""
        return self._best().predict_proba(X)

    def score(self, X: Any, y: Any) -> float:
        """The best machine's own score."""
        return self._best().score(X, y)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.input_tags.pairwise, tags.input_tags.sparse = (
            own.input_tags.pairwise,
            own.input_tags.sparse,
        )
        return tags


def _values_text(name: str, values: Any) -> str:
    if isinstance(values, str):
        return values
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        raise TypeError(
            f"param_grid[{name!r}] = {values!r} must be numbers, or text such as '0.1:1000:log5'"
        ) from None
    return ",".join(repr(value) for value in numbers)
