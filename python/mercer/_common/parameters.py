"""Parameters of estimators: of the kind their signature says, and named in every message."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Callable

import numpy as np

from .streams import is_stream, read_with_label

#: What the library calls a setting, and what estimators call the parameter it comes from.
PARAMETER_OF = {
    "balanced": ("class_weight",),
    "batch": ("batch_size",),
    "bias": ("fit_intercept",),
    "class_weights": ("class_weight",),
    "clusters": ("n_clusters",),
    "components": ("n_components", "n_sources"),
    "dictionary": ("dictionary_size",),
    "iteration_limit": ("max_iter",),
    "lambda": ("alpha",),
    "neighbours": ("n_neighbors",),
    "noise": ("alpha",),
    "optimise": ("optimizer",),
    "order": ("shuffle",),
    "pairs": ("n_components",),
    "passes": ("max_iter",),
    "path": ("alphas",),
    "regulariser": ("regularizer",),
    "relative_gap": ("gap",),
    "restarts": ("n_restarts_optimizer",),
    "slope": ("loss_slope",),
    "starts": ("n_init",),
    "sweeps": ("max_iter",),
    "tolerance": ("tol",),
    "vote": ("weights",),
}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_whole(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    whole = isinstance(value, Integral)
    return whole or (isinstance(value, Real) and math.isfinite(value) and int(value) == value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


#: By annotation: whether a value is of the kind, and the kind in words.
KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "float": (_is_number, "a number"),
    "int": (_is_whole, "a whole number"),
    "bool": (lambda value: isinstance(value, (bool, np.bool_, Integral)), "True or False"),
    "str": (lambda value: isinstance(value, str), "text"),
    "dict": (lambda value: isinstance(value, Mapping), "a dict"),
}


@functools.lru_cache(maxsize=None)
def _signature(kind: type) -> tuple[tuple[str, str, bool], ...]:
    """(name, annotation, whether None is allowed) of the parameters that have a kind."""
    found = []
    for name, parameter in inspect.signature(kind.__init__).parameters.items():
        annotation, _, none = str(parameter.annotation).partition(" | ")
        if annotation in KINDS:
            found.append((name, annotation, none == "None"))
    return tuple(found)


def check_parameters(estimator: Any) -> None:
    """Throws TypeError or ValueError for a parameter that is not what the signature says.

    What values of the right kind it may have is known to the library.
    """
    for name, annotation, may_be_none in _signature(type(estimator)):
        value = getattr(estimator, name)
        if value is None and may_be_none:
            continue
        if name == "probability" and isinstance(value, str) and value == "deprecated":
            continue  # scikit-learn's word for not asked
        fits, words = KINDS[annotation]
        if not fits(value):
            words += ", or None" if may_be_none else ""
            wrong = ValueError if _is_number(value) and annotation == "int" else TypeError
            raise wrong(f"{name} = {_shown(value)} must be {words}")
        if annotation == "float" and math.isnan(value):
            raise ValueError(f"{name} = nan must be {words}")
        if annotation == "int" and abs(value) >= 2**63:
            raise ValueError(f"{name} = {_shown(value)} must be a whole number of less size")


def number(name: str, value: Any) -> float:
    """The value of an argument of a function, which must be a number."""
    if not _is_number(value) or math.isnan(value):
        raise (ValueError if _is_number(value) else TypeError)(
            f"{name} = {_shown(value)} must be a number"
        )
    return float(value)


def numbers_of(name: str, values: Any) -> list[float]:
    """A parameter that is None or a sequence of numbers."""
    if values is None:
        return []
    text = isinstance(values, str)
    found = [] if text or not hasattr(values, "__iter__") else list(values)
    if not found or not all(_is_number(value) for value in found):
        raise TypeError(f"{name} = {_shown(values)} must be a sequence of numbers, or None")
    return [float(value) for value in found]


def in_our_words(estimator: Any, error: Exception) -> Exception:
    """The library's error about a setting as one about the parameter that the setting came from."""
    setting, is_about, rest = str(error).partition(" = ")
    known = estimator.get_params(deep=False)
    if not is_about or setting in known:
        return error
    for name in PARAMETER_OF.get(setting, ()):
        if name in known:
            return type(error)(f"{name} = {rest}")
    return error


def _with_columns(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Of a stream, which comes once, y and sample_weight may be columns: by their names."""
    names = ("X", "y", "sample_weight")
    given = {**dict(zip(names, args)), **kwargs}
    y, weights = given.get("y"), given.get("sample_weight")
    if not isinstance(y, str) and not isinstance(weights, str):
        return args, kwargs
    label = y if isinstance(y, str) else ""
    rows, labels, found = read_with_label(
        given["X"], label, weights if isinstance(weights, str) else ""
    )
    given["X"] = rows
    if label:
        given["y"] = labels
    if found is not None:
        given["sample_weight"] = found
    return args[len(names) :], given


def checked(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that looks at the parameters of its estimator first, and names them in its errors."""

    @functools.wraps(method)
    def with_parameters_checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_parameters(self)
        try:
            rows = args[0] if args else kwargs.get("X")
            if method.__name__ == "fit" and hasattr(rows, "__dask_graph__"):
                from ..distributed import fit  # what is of Dask is learnt by its workers

                return fit(self, *args, **kwargs)
            if is_stream(rows):
                args, kwargs = _with_columns(args, kwargs)
            return method(self, *args, **kwargs)
        except (TypeError, ValueError) as error:
            renamed = in_our_words(self, error)
            if renamed is error:
                raise
            raise renamed from None

    return with_parameters_checked
