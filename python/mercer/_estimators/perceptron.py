"""The perceptron in feature space, on rows at hand and on rows that come one after another."""

from __future__ import annotations

import copyreg
import warnings
from typing import Any

import numpy as np

from .. import _core
from .._common.arrays import _same_length, check_rows, names_of, to_rows
from .._common.base import Report, _threads
from .._common.call import outside
from .._common.classify import Classifier
from .hebbian import no_stream

copyreg.pickle(_core.PerceptronStream, lambda stream: (no_stream, ()))


class KernelPerceptron(Classifier):
    """The perceptron in feature space: a row that is answered wrongly is added, with its sign.

    Parameters
    ----------
    max_iter : int
        Passes over the data, at most; a pass without mistakes ends the training.
    variant : {"plain", "averaged", "voted"}
        The last weight vector, the mean of all, or the vote of all.
    budget : int
        Points kept at most; 0: as many as mistakes were made.
    shuffle : bool
        A new order in every pass, drawn by ``random_state``; else the given one.
    bias : bool
    kernel, gamma, degree, coef0
        As `SVC`.

    Attributes
    ----------
    mistakes_ : ndarray
        Mistakes of each pass.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPerceptron
    >>> X = np.array([[0., 0.], [1., 1.], [1., 0.], [0., 1.]])
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1).fit(X, [0, 0, 1, 1])
    >>> model.predict(X).tolist()
    [0, 0, 1, 1]
    """

    _task = "perceptron"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        max_iter: int = 10,
        variant: str = "plain",
        budget: int = 0,
        shuffle: bool = False,
        bias: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Any = None,
        precision: str = "auto",
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_iter = max_iter
        self.variant = variant
        self.budget = budget
        self.shuffle = shuffle
        self.bias = bias
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback
        self.precision = precision

    def fit(self, X: Any, y: Any) -> "KernelPerceptron":
        """Learns from rows and their classes, one row after another.

        Returns
        -------
        self
        """
        self._fit_classes(
            X,
            y,
            None,
            passes=int(self.max_iter),
            variant=self.variant,
            budget=int(self.budget),
            order="shuffled" if self.shuffle else "given",
            bias=bool(self.bias),
        )
        self._stream = None
        self.mistakes_ = self.report_.history
        self.n_iter_ = max(1, len(self.mistakes_))
        self.support_ = self._model.origins
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> "KernelPerceptron":
        """Learns from some more rows, one after another, which are kept only where they were mistakes;
        with a ``budget`` memory does not grow.

        Parameters
        ----------
        classes : array, optional
            All classes there will be, for the first call; those of its ``y`` if not given.

        Returns
        -------
        self
        """
        stream = self.__dict__.get("_stream")
        if stream is None:
            X = self._take(X)
            stream = self._begin(X, np.ravel(y) if classes is None else classes)
        else:
            X = check_rows(self, X, reset=False)
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        labels = _same_length(np.ravel(y), X.shape[0]).tolist()
        unknown = [label for label in labels if label not in places]
        if unknown:
            raise ValueError(f"y has {unknown[0]!r}, which is none of the classes {list(places)}")
        positions = np.asarray([places[label] for label in labels], dtype=np.float64)
        with _threads(self.n_jobs):
            mistakes = stream.feed(to_rows(X), positions)
        self._stream = stream
        self._model = stream.model(*names_of(self.classes_))
        self.report_ = Report(self._model.report())
        self.mistakes_ = np.append(self.__dict__.get("mistakes_", np.zeros(0)), mistakes)
        self.n_iter_ = 1
        self.support_ = self._model.origins
        return self

    def _begin(self, X: Any, classes: Any) -> _core.PerceptronStream:
        if self.variant == "voted":
            raise ValueError("variant = 'voted' must be 'plain' or 'averaged' for partial_fit")
        if "_model" in self.__dict__:
            warnings.warn(
                "partial_fit begins anew: fit and pickles leave no stream to go on from",
                stacklevel=outside(),
            )
        self.classes_ = np.unique(np.asarray(classes))
        self.mistakes_ = np.zeros(0)
        kernel = self._expression_only()
        kernel = kernel.resolve(X) if kernel.needs_data else kernel
        settings = {
            "budget": int(self.budget),
            "averaged": self.variant == "averaged",
            "bias": bool(self.bias),
            "double_precision": self.precision != "single",
        }
        return _core.PerceptronStream(
            kernel._expression, self.n_features_in_, len(self.classes_), settings
        )
