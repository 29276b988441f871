"""What the support vector machines share: weights of rows, what they are read off as, warnings."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from .._common.arrays import check_weights, is_sparse
from .._common.base import Machine
from .._common.call import outside
from .._common.compat import ConvergenceWarning
from ..distributed._ranks import sums_of_all

#: What ``C=inf`` counts as where the library has no machine without a penalty (`SVR`).
LARGEST_C = 1e10
#: Beyond so many rows, and up to so many columns, machines under the linear kernel may be learnt by passes
#: (learns_by_passes of the library).
MANY_ROWS, MOST_WEIGHTS = 4 * 8192, 4096
#: Rows with an entry beyond this have a squared length beyond double precision.
LARGEST_ENTRY = 1e150


class SupportVectorMachine(Machine):
    """A machine whose answer is an expansion in some of its rows.

    Fitted on sparse rows it has sparse ``support_vectors_``, ``dual_coef_`` and ``coef_``, as in
    scikit-learn.
    """

    def _take(self, X: Any, minimum: int = 1) -> Any:
        if self._pairwise_input and is_sparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        X = super()._take(X, minimum)
        entries = X.data if is_sparse(X) else X
        if isinstance(entries, np.ndarray) and entries.size:
            largest = max(abs(float(entries.max())), abs(float(entries.min())))
            if largest > LARGEST_ENTRY:
                raise ValueError(
                    f"The dual coefficients or intercepts are not finite: X has an entry of size "
                    f"{largest:.3g}, whose square is beyond double precision; scale the columns"
                )
        self._sparse = is_sparse(X)
        return X

    def _row_weights(self, sample_weight: Any, rows: int) -> np.ndarray | None:
        """Rows of weight 0 or less are left out, as scikit-learn does."""
        return check_weights(sample_weight, rows, leave_out=True)

    def _solver_settings(self, rows: int) -> dict[str, Any]:
        return {
            "shrinking": bool(self.shrinking),
            "memory_bytes": self._cache_bytes(),
            "iteration_limit": max(0, int(self.max_iter)),
            "method": self._method(rows),
            "relative_gap": float(self.gap),
            **self._tolerance(rows),
        }

    def _method(self, rows: int) -> str:
        """Of many rows a linear machine may be learnt by passes over those that ``memory_bytes`` does
        not hold, and then has no support vectors. Here they are in memory, and ``support_`` is wanted."""
        is_plain = self.method == "automatic" and getattr(self, "approximate", None) is None
        is_large = rows > MANY_ROWS and self.n_features_in_ <= MOST_WEIGHTS
        has_passes = self.kernel == "linear" and getattr(self, "C", 1.0) != math.inf
        return "weights" if is_plain and is_large and has_passes else self.method

    def _penalty_of_errors(self) -> float:
        return LARGEST_C if self.C == math.inf else float(self.C)

    def _as_fitted(self, table: Any) -> Any:
        """Sparse where the rows were."""
        if not self._sparse or is_sparse(table):
            return table
        from scipy.sparse import csr_matrix

        return csr_matrix(table)

    @property
    def coef_(self) -> Any:
        """The weight vectors, for the linear kernel only. They follow from ``dual_coef_`` and cannot be
        written to."""
        self._check_fitted()
        if "_block_kernel" in self.__dict__ or self._model.kernel.text() != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        weights = np.asarray(self._model.coefficients @ self._points())
        if len(getattr(self, "classes_", ())) == 2:
            weights = -weights
        if self.__dict__.get("_sparse"):
            weights = self._as_fitted(weights)
            weights.data.flags.writeable = False
        else:
            weights.flags.writeable = False
        return weights

    def _warn_unless_converged(self, how_far: str) -> None:
        if self.report_.status == "stopped at the iteration limit":
            warnings.warn(
                f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing your "
                f"data with StandardScaler or MinMaxScaler. {how_far[0].upper()}{how_far[1:]}; the "
                "machine is valid and report_ says how far it is from the optimum.",
                ConvergenceWarning,
                stacklevel=outside(),
            )
            return
        super()._warn_unless_converged(how_far)


class OneOutput(SupportVectorMachine):
    """A support vector machine with one function."""

    def _fit_one(self, X: Any, y: Any, sample_weight: Any, **settings: Any) -> Any:
        rows = int(sums_of_all(X.shape[0]))
        settings.update(self._solver_settings(rows))
        self._train(X, y, self._row_weights(sample_weight, X.shape[0]), **settings)
        model = self._model
        self.support_ = model.origins.astype(np.int32)
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.support_vectors_ = self._as_fitted(self._points())
        self.dual_coef_ = self._as_fitted(model.coefficients)
        self.intercept_ = model.bias
        self.n_iter_ = max(1, self.report_.iterations)
        self.fit_status_ = 0 if self.report_.converged else 1
        self.shape_fit_ = (rows, self.n_features_in_)
        return self
