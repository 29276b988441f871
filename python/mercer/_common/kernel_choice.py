"""The kernel of a machine, as it was given by name, text, object or function."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._kernel.block_kernel import BlockKernel, PairFunction
from .._kernel.expression import Kernel
from ..distributed._ranks import is_spread
from .call import weighted_scale


class KernelChoice:
    """What estimators make of their parameters ``kernel``, ``gamma``, ``degree`` and ``coef0``."""

    #: Whether a kernel that is a function is called on two rows, as in some classes of scikit-learn.
    _functions_of_pairs = False
    #: ``coef0`` where none is given.
    _usual_coef0 = 0.0

    def _resolve_kernel(self, X: Any = None, weights: np.ndarray | None = None) -> Any:
        """The kernel as given by name, text, object or function.

        With weights, ``gamma="scale"`` is taken from the weighted variance: a row of weight 2 counts
        as two rows. (scikit-learn's leaves weights out of it.)
        """
        kernel = self.kernel
        if kernel is None:
            kernel = "rbf"
        if isinstance(kernel, (Kernel, BlockKernel)):
            return kernel
        if callable(kernel):
            name = getattr(kernel, "__name__", "function")
            if self._functions_of_pairs:
                kernel = PairFunction(kernel, getattr(self, "kernel_params", None) or {})
            return BlockKernel("function", kernel, name, False)
        if not isinstance(kernel, str):
            raise TypeError(
                f"kernel must be a name, a text, a mercer kernel or a function, not "
                f"{type(kernel).__name__}"
            )
        gamma = getattr(self, "gamma", None)
        if weights is not None and isinstance(gamma, str) and gamma == "scale":
            if is_spread():
                raise ValueError(
                    "gamma='scale' with weights is that of all rows, which several processes do not "
                    "find together: give gamma as a number"
                )
            gamma = weighted_scale(X, weights)
        return self._named_kernel(kernel, gamma)

    def _named_kernel(self, name: str, gamma: Any) -> Kernel:
        gamma = self._gamma_text(gamma)
        degree, coef0 = getattr(self, "degree", None), getattr(self, "coef0", None)
        degree = 3 if degree is None else degree
        coef0 = self._usual_coef0 if coef0 is None else coef0
        if name == "rbf":
            return Kernel(f"rbf(gamma={gamma})")
        if name == "laplacian":
            return Kernel(f"laplacian(gamma={gamma})")
        if name in ("poly", "polynomial"):
            if degree < 0:
                raise ValueError(f"degree = {degree} must be 0 or more")
            if int(degree) != degree:
                product = f"polynomial(degree=1, gamma={gamma}, coef0={float(coef0)!r})"
                return Kernel(f"({product})^{float(degree)!r}")
            return Kernel(
                f"polynomial(degree={int(degree)}, gamma={gamma}, coef0={float(coef0)!r})"
            )
        if name == "sigmoid":
            return Kernel(f"sigmoid(gamma={gamma}, coef0={float(coef0)!r})")
        if name in ("cosine", "normalize"):
            return Kernel("normalize(linear)")
        return Kernel(name)

    def _expression_only(self) -> Kernel:
        """The kernel of a machine that needs rows themselves, not a matrix of kernel values."""
        name = type(self).__name__
        if self._pairwise_input:
            raise ValueError(f"{name} needs rows: kernel='precomputed' is not possible here")
        kernel = self._resolve_kernel()
        if isinstance(kernel, BlockKernel):
            raise TypeError(f"{name} needs a kernel expression, not a Python function")
        return kernel

    @staticmethod
    def _gamma_text(gamma: Any) -> str:
        if gamma is None:
            return "auto"
        if isinstance(gamma, str):
            if gamma not in ("scale", "auto"):
                raise ValueError(f"gamma = {gamma!r} must be 'scale', 'auto' or a number")
            return gamma
        message = f"gamma = {gamma!r} must be a number, 0 or more, or 'scale' or 'auto'"
        if not isinstance(gamma, Real) or isinstance(gamma, bool):
            raise TypeError(message)
        if not 0 <= gamma < float("inf"):
            raise ValueError(message)
        return repr(float(gamma))

    @property
    def _pairwise_input(self) -> bool:
        return isinstance(getattr(self, "kernel", None), str) and self.kernel == "precomputed"
