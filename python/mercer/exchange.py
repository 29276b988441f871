"""Models for other programs and from them: ONNX, C source, LIBSVM, scikit-learn."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np

from . import _core
from ._common.base import Machine
from ._common.load import load

#: Our kernels' names in LIBSVM's files, and scikit-learn's.
_KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid"}
#: LIBSVM's machines, and the classes of scikit-learn that train them.
_TYPES = {
    "c_svc": "SVC",
    "nu_svc": "NuSVC",
    "one_class": "OneClassSVM",
    "epsilon_svr": "SVR",
    "nu_svr": "NuSVR",
}


def export(
    machine: Machine,
    path: Any,
    to: str | None = None,
    *,
    name: str = "model",
    precision: str = "double",
) -> None:
    """Writes a fitted machine for programs that do not know Mercer (docs/export.md).

    Scaling, classes and probabilities go with it. What cannot be exported is named in a ValueError.

    Parameters
    ----------
    machine : a fitted estimator of this package
    path : str or path
        Its ending says what is written: ``.onnx``, ``.c``, ``.model`` (LIBSVM).
    to : "onnx", "c" or "libsvm", optional
        The same, for other endings.
    name : str
        What the functions of C begin with, and the name of ONNX's graph.
    precision : "double" or "single"
        What ONNX and C compute in.

    Examples
    --------
    >>> import os, tempfile
    >>> import mercer
    >>> model = mercer.SVC().fit([[0.], [1.], [2.], [3.]], ["a", "a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.export(os.path.join(folder, "model.onnx"))
    ...     mercer.export(model, os.path.join(folder, "model.c"), name="letters")
    """
    if precision not in ("double", "single"):
        raise ValueError(f"precision is 'double' or 'single', found {precision!r}")
    if isinstance(machine, Machine):
        machine._check_fitted()
        if "_block_kernel" in machine.__dict__:
            raise ValueError(
                f"{type(machine).__name__}: the kernel is a Python function, which no other program "
                "can call; write it as an expression of mercer.kernels"
            )
    _core.export_model(machine._model, os.fspath(path), to or "", name, precision == "single")


Machine.export = export  # as a method beside `save`


def load_libsvm(path: Any, columns: int = 0) -> Machine:
    """A fitted machine from a model file of LIBSVM, which ``machine.export("m.model")`` also writes.

    Parameters
    ----------
    path : str or path
    columns : int
        The file does not say how many columns the data had; at least so many, where the last ones are
        zero in all support vectors.
    """
    return _machine_of(_core.import_libsvm(os.fspath(path), columns))


def _machine_of(model: _core.Model) -> Machine:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.mercer")
        model.save(path)
        return load(path)


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in np.ravel(values))


def _libsvm_text(estimator: Any, kind: str) -> str:
    """A fitted support vector machine of scikit-learn as LIBSVM, which trained it, writes it."""
    words = {theirs: ours for ours, theirs in _KERNELS.items()}
    if not isinstance(estimator.kernel, str) or estimator.kernel not in words:
        raise ValueError(
            f"the kernel {estimator.kernel!r} of {type(estimator).__name__} is none of "
            + ", ".join(words)
        )
    kernel = words[estimator.kernel]
    lines = [f"svm_type {kind}", f"kernel_type {kernel}"]
    if kernel == "polynomial":
        lines.append(f"degree {estimator.degree}")
    if kernel != "linear":
        lines.append(f"gamma {float(estimator._gamma)!r}")
    if kernel in ("polynomial", "sigmoid"):
        lines.append(f"coef0 {float(estimator.coef0)!r}")
    coefficients = estimator._dual_coef_
    coefficients = coefficients.toarray() if hasattr(coefficients, "toarray") else coefficients
    points = estimator.support_vectors_
    points = points.toarray() if hasattr(points, "toarray") else points
    classes = len(estimator.classes_) if kind.endswith("svc") else 2
    lines += [f"nr_class {classes}", f"total_sv {len(points)}"]
    lines.append("rho " + _numbers(-estimator._intercept_))
    if kind.endswith("svc"):
        lines.append("label " + " ".join(map(str, range(classes))))
        if len(getattr(estimator, "_probA", ())):
            lines.append("probA " + _numbers(estimator._probA))
            lines.append("probB " + _numbers(estimator._probB))
        lines.append("nr_sv " + " ".join(map(str, estimator._n_support)))
    lines.append("SV")
    for i, row in enumerate(points):
        entries = " ".join(f"{j + 1}:{float(row[j])!r}" for j in np.flatnonzero(row))
        lines.append(f"{_numbers(coefficients[:, i])} {entries}")
    return "\n".join(lines) + "\n"


def from_sklearn(estimator: Any) -> Machine:
    """Our machine from a fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM of scikit-learn.

    It predicts the same, and can do what ours can: be saved, exported, reduced, explained.

    Examples
    --------
    >>> import mercer, sklearn.svm
    >>> theirs = sklearn.svm.SVC(gamma=0.5).fit([[0.], [1.], [2.], [3.]], ["a", "a", "b", "b"])
    >>> mercer.from_sklearn(theirs).predict([[0.2], [2.9]]).tolist()
    ['a', 'b']
    """
    kinds = {theirs: kind for kind, theirs in _TYPES.items()}
    kind = kinds.get(type(estimator).__name__)
    if kind is None or not type(estimator).__module__.startswith("sklearn."):
        raise TypeError(
            "from_sklearn takes a fitted " + ", ".join(kinds) + f" of scikit-learn, found "
            f"{type(estimator).__module__}.{type(estimator).__name__}"
        )
    if not hasattr(estimator, "support_vectors_"):
        raise ValueError(f"{type(estimator).__name__} is not fitted yet")
    text = _libsvm_text(estimator, kind)
    machine = _machine_of(_core.import_libsvm_text(text, int(estimator.n_features_in_)))
    if hasattr(estimator, "classes_"):
        machine.classes_ = estimator.classes_
    if hasattr(estimator, "feature_names_in_"):
        machine.feature_names_in_ = estimator.feature_names_in_
    return machine


def _parse_libsvm(text: str) -> tuple[dict[str, list[str]], list[list[str]]]:
    head, body = text.split("SV\n", 1)
    fields = {words[0]: words[1:] for words in map(str.split, head.splitlines()) if words}
    return fields, [line.split() for line in body.splitlines()]


def to_sklearn(machine: Machine) -> Any:
    """A fitted estimator of scikit-learn that predicts as this machine does.

    For support vector machines with LIBSVM's four kernels: with it come all tools that read
    scikit-learn's own models. Others are refused with a ValueError that says why.

    Examples
    --------
    >>> import mercer
    >>> ours = mercer.SVC(gamma=0.5).fit([[0.], [1.], [2.], [3.]], ["a", "a", "b", "b"])
    >>> theirs = mercer.to_sklearn(ours)
    >>> type(theirs).__module__.split(".")[0], theirs.predict([[2.9]]).tolist()
    ('sklearn', ['b'])
    """
    import sklearn.svm

    machine._check_fitted()
    fields, lines = _parse_libsvm(_core.libsvm_text(machine._model))
    kind, kernel = fields["svm_type"][0], fields["kernel_type"][0]
    if kernel not in _KERNELS:
        raise ValueError(f"scikit-learn has no kernel {kernel} whose model could be made")
    settings: dict[str, Any] = {"kernel": _KERNELS[kernel]}
    for word, name, convert in (("degree", "degree", int), ("gamma", "gamma", float),
                                ("coef0", "coef0", float)):
        if word in fields:
            settings[name] = convert(fields[word][0])
    if kind == "c_svc" and len(fields.get("label", ())) > 2:
        settings["decision_function_shape"] = "ovr"
    estimator = getattr(sklearn.svm, _TYPES[kind])(**settings)
    classifier = kind.endswith("svc")
    per_row = len(machine.classes_) - 1 if classifier else 1
    columns = int(machine.n_features_in_)
    coefficients = np.array([[float(v) for v in line[:per_row]] for line in lines])
    points = np.zeros((len(lines), columns))
    for i, line in enumerate(lines):
        for entry in line[per_row:]:
            place, value = entry.split(":")
            points[i, int(place) - 1] = float(value)
    coefficients = coefficients.reshape(len(lines), per_row).T
    _fill(estimator, machine, fields, np.ascontiguousarray(coefficients), points, classifier)
    return estimator


def _fill(estimator, machine, fields, coefficients, points, classifier) -> None:
    """The attributes that scikit-learn's `fit` leaves behind."""
    count = len(points)
    estimator.support_vectors_ = points
    estimator.support_ = np.arange(count, dtype=np.int32)
    estimator._dual_coef_ = coefficients
    estimator._intercept_ = -np.array([float(v) for v in fields["rho"]])
    # Of two classes scikit-learn shows both with the other sign.
    turned = -1.0 if classifier and len(machine.classes_) == 2 else 1.0
    estimator.dual_coef_ = turned * coefficients
    estimator.intercept_ = turned * estimator._intercept_
    sizes = fields.get("nr_sv", [str(count), str(count)] if not classifier else [])
    estimator._n_support = np.array([int(v) for v in sizes], dtype=np.int32)
    estimator._probA = np.array([float(v) for v in fields.get("probA", ()) if classifier])
    estimator._probB = np.array([float(v) for v in fields.get("probB", ()) if classifier])
    if len(estimator._probA):
        estimator.set_params(probability=True)
    estimator._sparse = False
    estimator._gamma = float(fields["gamma"][0]) if "gamma" in fields else 0.0
    estimator.fit_status_ = 0
    estimator.shape_fit_ = (count, points.shape[1])
    estimator.n_features_in_ = points.shape[1]
    estimator.n_iter_ = np.zeros(max(1, len(estimator.intercept_)), dtype=np.int32)
    estimator._num_iter = estimator.n_iter_
    if classifier:
        estimator.classes_ = np.asarray(machine.classes_)
        estimator.class_weight_ = np.ones(len(machine.classes_))
    elif type(estimator).__name__ == "OneClassSVM":
        estimator.offset_ = -estimator._intercept_
    if hasattr(machine, "feature_names_in_"):
        estimator.feature_names_in_ = machine.feature_names_in_


__all__ = ["export", "from_sklearn", "load_libsvm", "to_sklearn"]
