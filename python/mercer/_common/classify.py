"""What classifiers share: classes, votes, shapes of decisions."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ..distributed._ranks import labels_of_all, sums_of_all
from .arrays import check_labels, check_weights
from .base import Machine
from .call import outside
from .compat import ClassifierMixin


def class_weight_of(class_weight: Any, classes: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """One weight per class from None, "balanced" or a dict."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight = {class_weight!r} must be 'balanced', a dict or None")
        counts = sums_of_all(np.bincount(positions, minlength=len(classes)))
        return counts.sum() / (len(classes) * counts)
    if not isinstance(class_weight, Mapping):
        raise TypeError(f"class_weight = {class_weight!r} must be 'balanced', a dict or None")
    weights = np.ones(len(classes))
    places = {label: place for place, label in enumerate(classes.tolist())}
    unknown = [label for label in class_weight if label not in places]
    if unknown:
        raise ValueError(
            f"The classes, {unknown}, are not in class_weight: classes are {list(places)}"
        )
    for label, weight in class_weight.items():
        if not isinstance(weight, Real) or not 0 <= weight < float("inf"):
            raise ValueError(f"class_weight of {label!r} = {weight!r} must be a number, 0 or more")
        weights[places[label]] = weight
    return weights


def votes_to_scores(pairs: np.ndarray, count: int) -> np.ndarray:
    """One score a class from the decisions of all pairs (positive: the first of the pair).

    Votes, plus the sums of decisions squeezed into less than a third of a vote, which decides ties.
    """
    votes = np.zeros((len(pairs), count))
    sums = np.zeros((len(pairs), count))
    k = 0
    for a in range(count):
        for b in range(a + 1, count):
            f = pairs[:, k]
            sums[:, a] += f
            sums[:, b] -= f
            votes[:, a] += f >= 0
            votes[:, b] += f < 0
            k += 1
    return votes + sums / (3 * (np.abs(sums) + 1))


class Classifier(ClassifierMixin, Machine):
    """A machine that learns classes. Its model knows them by position; here they have names."""

    #: Columns of decisions for more than two classes: pairs, or one per class.
    _by_pairs = False

    def _fit_classes(self, X: Any, y: Any, sample_weight: Any, **settings: Any) -> Any:
        X = self._take(X)
        others = labels_of_all(y)  # of other processes, which may have other classes
        if others is None:
            self.classes_, positions = check_labels(self, y, X.shape[0])
        else:
            joined = np.concatenate([others, np.asarray(y)])
            self.classes_, positions = check_labels(self, joined, len(others) + X.shape[0])
            positions = positions[len(others) :]
        weights = self._row_weights(sample_weight, X.shape[0])
        if others is None:
            self._require_all_classes(positions, weights)
        if hasattr(self, "class_weight"):
            self.class_weight_ = class_weight_of(self.class_weight, self.classes_, positions)
            weights = self._weigh_classes(settings, positions, weights)
        settings.update(self._solver_settings(int(sums_of_all(X.shape[0]))))
        if "nu" in settings:
            settings["nu"] = self._feasible_nu(settings["nu"], positions, weights)
        settings["classes"] = self.classes_
        self._train(X, positions.astype(np.float64), weights, **settings)
        return positions

    def _row_weights(self, sample_weight: Any, rows: int) -> np.ndarray | None:
        return check_weights(sample_weight, rows)

    def _solver_settings(self, rows: int) -> dict[str, Any]:
        return {}

    def _weigh_classes(self, settings: dict[str, Any], positions: np.ndarray, weights: Any) -> Any:
        """Tells the machine of weights of classes; returns those of rows."""
        if (self.class_weight_ != 1).any():
            settings["class_weights"] = self.class_weight_.tolist()
        return weights

    def _require_all_classes(self, positions: np.ndarray, weights: np.ndarray | None) -> None:
        """Rows of weight 0 are left out: there must be others of every class."""
        if weights is None:
            return
        left = np.bincount(positions, weights=weights > 0, minlength=len(self.classes_))
        if (left > 0).sum() == 1:
            infeasible = "specified nu is infeasible: " if hasattr(self, "nu") else ""
            raise ValueError(
                f"{infeasible}Invalid input - all samples with positive weights belong to the same class"
            )
        if (left == 0).any():
            gone = self.classes_[left == 0].tolist()
            raise ValueError(f"no row of class {gone} has a positive weight: leave those rows out")

    def _feasible_nu(self, nu: float, positions: np.ndarray, weights: np.ndarray | None) -> float:
        """ν, lowered with a warning where no machine has it; scikit-learn refuses instead.

        A pair of classes of a <= b rows (or weight) has one for ν <= 2a / (a + b).
        """
        if not 0 < nu <= 1:
            return nu
        sums = np.bincount(positions, weights=weights, minlength=len(self.classes_))
        sums = sums * getattr(self, "class_weight_", 1.0)
        largest = 2 * sums.min() / (sums.min() + sums.max())
        if nu <= largest:
            return nu
        warnings.warn(
            f"nu = {nu} cannot be met: class {self.classes_[sums.argmin()]!r} has too few rows; the "
            f"largest feasible value, {largest:.6g}, is used",
            stacklevel=outside(),
        )
        return largest * (1 - 1e-6)

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        found = self._model_classes(self._decision(X))
        return self.classes_[found]

    def _model_classes(self, decisions: np.ndarray) -> np.ndarray:
        return self._model.classify(decisions).astype(np.intp)

    def decision_function(self, X: Any) -> np.ndarray:
        """How clearly each row belongs to each class.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, positive meaning ``classes_[1]``; else of
        shape (n_samples, n_classes), the largest being the answer.
        """
        return self._shaped(self._decision(X))

    def _shaped(self, decisions: np.ndarray) -> np.ndarray:
        count = len(self.classes_)
        if count == 2:
            # The library's positive means the first class, scikit-learn's the second.
            return (
                -decisions[:, 0] if decisions.shape[1] == 1 else decisions[:, 1] - decisions[:, 0]
            )
        by_pairs = self._by_pairs and not self._model.one_vs_rest  # as the command line also does
        if by_pairs and getattr(self, "decision_function_shape", "ovr") == "ovr":
            return votes_to_scores(decisions, count)
        return decisions
