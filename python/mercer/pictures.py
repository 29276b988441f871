"""Rows that are pictures, and pictures as arrays of bytes: of shape (height, width), or with 3 colours.

Examples
--------
>>> import numpy as np
>>> from mercer import pictures
>>> digit = np.zeros((1, 16)); digit[0, 5] = 1
>>> X, y = pictures.virtual_examples(digit, [7], "shift(1)")
>>> X.shape, y.tolist() == [7] * 9
((9, 16), True)
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from . import _core
from ._common.arrays import check_rows, checked_rows, from_rows, to_rows
from ._common.base import Machine, Report, _threads, seed_of
from ._common.compat import TransformerMixin
from ._common.parameters import number
from ._select.choice import _fitted
from .kernels import Kernel

__all__ = [
    "Detections",
    "SuperResolution",
    "TangentMap",
    "changed",
    "denoise",
    "detect",
    "psnr",
    "read",
    "shrink",
    "ssim",
    "stretch",
    "virtual_examples",
    "write",
]


def _bytes(picture: Any, name: str = "picture") -> np.ndarray:
    found = np.asarray(picture)
    if found.dtype != np.uint8:
        whole = found.dtype.kind in "biu" and found.size and found.min() >= 0 and found.max() <= 255
        if not whole:
            raise TypeError(
                f"{name} must be an array of bytes (uint8), 0 black and 255 white, not {found.dtype}"
            )
        found = found.astype(np.uint8)
    return np.ascontiguousarray(found)


def _shape(shape: Any) -> str:
    return "" if shape is None else f"{int(shape[0])}x{int(shape[1])}"


def read(path: Any) -> np.ndarray:
    """A picture from a PNG or PNM file."""
    return _core.read_picture(os.fspath(path))


def write(picture: Any, path: Any) -> None:
    """Writes a picture by the name's ending: .png, .pgm, .ppm or .pnm."""
    _core.write_picture(_bytes(picture), os.fspath(path))


# ---- rows that are pictures


def changed(X: Any, ways: str, *, shape: Any = None, background: float = 0.0) -> dict[str, Any]:
    """Rows moved, turned, stretched, sheared, made bolder, crumpled or deskewed, by the name of the way.

    Parameters
    ----------
    X : rows that are pictures of one channel, row by row
    ways : str
        Such as ``"shift(1), rotate(10), scale(1.1), shear(0.2), thicken(0.5), elastic(2), deskew"``, or
        ``"contrast"``: each row brought to mean 0 and deviation 1.
    shape : (height, width), optional
        A square if not given.
    background : float
        What stands around the pictures.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import pictures
    >>> sorted(pictures.changed(np.eye(4), "rotate(90)"))
    ['rotate(90)', 'rotate(90) back']
    """
    rows = checked_rows(X)
    names, parts = _core.changed_rows(
        rows, str(ways), _shape(shape), number("background", background)
    )
    return {name: from_rows(arrays, rows.columns) for name, arrays in zip(names, parts)}


def virtual_examples(
    X: Any, y: Any = None, ways: str = "shift(1)", *, shape: Any = None, background: float = 0.0
) -> Any:
    """The rows and, after them, all of them changed in each way; labels go with their rows.

    A machine fitted on its support vectors and their images is as good as one of all rows and all images:
    ``virtual_examples(X[model.support_], y[model.support_], …)`` (virtual support vectors).
    """
    parts = [X, *changed(X, ways, shape=shape, background=background).values()]
    table = np.vstack(
        [part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in parts]
    )
    return table if y is None else (table, np.tile(np.ravel(y), len(parts)))


class TangentMap(TransformerMixin, Machine):
    """Rows preprocessed so that known changes of them count less: x ↦ C_λ^(−1/2) x, with C the covariance
    of the differences that the changes make.

    Parameters
    ----------
    ways, shape, background
        As `changed`.
    lambda_ : float
        C_λ = (1 − λ) C + λ I, 0 < λ <= 1; 1 leaves rows as they are.
    relative : bool
        C divided by its mean eigenvalue, so that λ means the same whatever the unit of the rows.

    Attributes
    ----------
    matrix_ : ndarray of shape (n_features, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.pictures import TangentMap
    >>> X = np.random.default_rng(0).normal(size=(50, 16))
    >>> TangentMap("shift(1)").fit_transform(X).shape
    (50, 16)
    """

    def __init__(
        self,
        ways: str = "shift(1)",
        *,
        lambda_: float = 0.1,
        shape: Any = None,
        background: float = 0.0,
        relative: bool = True,
    ) -> None:
        self.ways = ways
        self.lambda_ = lambda_
        self.shape = shape
        self.background = background
        self.relative = relative

    def fit(self, X: Any, y: Any = None) -> "TangentMap":
        """Learns how the rows change; ``y`` is ignored."""
        rows = to_rows(check_rows(self, X, reset=True))
        self.matrix_ = _core.tangent_matrix(
            rows,
            self.ways,
            _shape(self.shape),
            float(self.background),
            float(self.lambda_),
            bool(self.relative),
        )
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "matrix_" in self.__dict__

    def transform(self, X: Any) -> np.ndarray:
        """The preprocessed rows."""
        return np.asarray(check_rows(self, X, reset=False) @ self.matrix_.T)


# ---- pictures


@dataclass(frozen=True)
class Detections:
    """What was found in a picture."""

    boxes: np.ndarray  #: top, left, height, width and decision of each, the strongest first
    patches: int  #: looked at
    accepted: int  #: before overlapping ones were left out
    average_kernels: float  #: a patch


def detect(
    machine: Any,
    picture: Any,
    *,
    shape: tuple[int, int],
    keep: Any = None,
    scale: float = 1.2,
    largest: float = 1.0,
    step: int = 1,
    threshold: float = 0.0,
    overlap: float = 0.3,
    contrast: bool = True,
    n_jobs: int | None = None,
) -> Detections:
    """Finds in a picture what a machine of patches knows, at several scales.

    Parameters
    ----------
    machine : fitted classifier of two classes, best a `cascade`
        Of rows that are patches of ``shape`` (height, width).
    keep
        The class sought; the one a cascade keeps, else the first.
    scale, largest, step
        Each scale so many times smaller than the one before, beginning at ``largest`` (1: the picture as it
        is); pixels between patches.
    threshold, overlap
        Accept above this decision; of two boxes that share more of their union the weaker goes.
    contrast : bool
        Patches are brought to mean 0 and deviation 1, as `changed` does by "contrast".
    """
    _fitted(machine)
    names = dict(zip(machine.classes_.tolist(), machine._model.class_names))
    if keep is not None and keep not in names:
        raise ValueError(f"keep = {keep!r} must be one of {list(names)}")
    settings = {
        "height": int(shape[0]),
        "width": int(shape[1]),
        "keep": "" if keep is None else names[keep],
        "scale": float(scale),
        "largest": float(largest),
        "step": int(step),
        "threshold": float(threshold),
        "overlap": float(overlap),
        "contrast": bool(contrast),
    }
    with _threads(n_jobs):
        return Detections(**_core.detect(machine._model, _bytes(picture), settings))


def denoise(
    picture: Any,
    example: Any = None,
    *,
    kernel: Any = "rbf(gamma=scale)",
    n_components: int = 16,
    patch: int = 8,
    stride: int = 0,
    sample: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """A picture without its noise, by kernel principal components of patches of ``example`` (the picture
    itself if not given) and pre-images of what they keep.

    Rows are denoised by ``KernelPCA``: ``pca.inverse_transform(pca.transform(X))``.
    """
    noisy = _bytes(picture)
    settings = {
        "patch": int(patch),
        "stride": int(stride),
        "sample": int(sample),
        "components": int(n_components),
        "seed": seed_of(random_state),
    }
    learnt_from = noisy if example is None else _bytes(example, "example")
    with _threads(n_jobs):
        return _core.denoised_picture(noisy, learnt_from, Kernel(kernel)._expression, settings)


class SuperResolution:
    """Photographs made larger, with details learnt from others.

    Parameters
    ----------
    factor : int
        So many times as high and as wide, 2 to 8.
    kernel
        On patches; None: ``rbf(gamma=1/(4 patch²))``.
    n_components, dictionary_size, passes
        As `KernelHebbian`.
    patch, sample, rounds
        Pixels a side of a patch, patches learnt from, projections.
    pairs : bool
        Learn what is seen beside what is sought; or patches of the large pictures alone.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.pictures import SuperResolution, shrink
    >>> lines = np.add.outer(np.arange(64), np.arange(64))
    >>> picture = np.where(lines // 8 % 2, 200, 40).astype(np.uint8)
    >>> learnt = SuperResolution(2, n_components=8, sample=300, dictionary_size=60).fit([picture])
    >>> learnt.enlarge(shrink(picture, 2)).shape
    (64, 64)
    """

    def __init__(
        self,
        factor: int = 2,
        *,
        kernel: Any = None,
        n_components: int = 40,
        dictionary_size: int = 500,
        passes: int = 3,
        patch: int = 8,
        sample: int = 10000,
        rounds: int = 2,
        pairs: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.factor, self.kernel = factor, kernel
        self.n_components, self.dictionary_size, self.passes = n_components, dictionary_size, passes
        self.patch, self.sample, self.rounds = patch, sample, rounds
        self.pairs, self.random_state, self.n_jobs = pairs, random_state, n_jobs

    def fit(self, pictures: Sequence[Any]) -> "SuperResolution":
        """Learns from large pictures."""
        kernel = (
            self.kernel if self.kernel is not None else f"rbf(gamma={1 / (4 * self.patch**2)!r})"
        )
        settings = {
            "large": not self.pairs,
            "factor": int(self.factor),
            "patch": int(self.patch),
            "sample": int(self.sample),
            "rounds": int(self.rounds),
            "components": int(self.n_components),
            "dictionary": int(self.dictionary_size),
            "passes": int(self.passes),
            "seed": seed_of(self.random_state),
        }
        examples = [_bytes(picture, "pictures") for picture in pictures]
        with _threads(self.n_jobs):
            self._model = _core.learn_enlarging(examples, Kernel(kernel)._expression, settings)
        self.report_ = Report(self._model.report())
        return self

    def enlarge(self, picture: Any, *, stride: int = 0) -> np.ndarray:
        """The picture ``factor`` times as large."""
        if "_model" not in self.__dict__:
            raise ValueError("SuperResolution has learnt nothing yet: call fit with some pictures")
        with _threads(self.n_jobs):
            return _core.enlarged_picture(self._model, _bytes(picture), int(stride))

    def save(self, path: Any) -> None:
        """Writes the model file that ``mercer superres`` reads."""
        self._model.save(os.fspath(path))

    @classmethod
    def load(cls, path: Any) -> "SuperResolution":
        """One that was saved, or written by ``mercer superres``."""
        made = cls()
        made._model = _core.Model.load(os.fspath(path))
        made.report_ = Report(made._model.report())
        return made


def stretch(picture: Any, factor: int, method: str = "bicubic") -> np.ndarray:
    """Larger by interpolation: "nearest", "bilinear" or "bicubic"."""
    return _core.stretched_picture(_bytes(picture), int(factor), method)


def shrink(picture: Any, factor: int) -> np.ndarray:
    """Every ``factor`` × ``factor`` pixels become their mean."""
    return _core.shrunk_picture(_bytes(picture), int(factor))


def psnr(a: Any, b: Any) -> float:
    """Peak signal-to-noise ratio of two pictures in decibels; infinite for equal ones."""
    return _core.psnr(_bytes(a), _bytes(b))


def ssim(a: Any, b: Any) -> float:
    """Structural similarity of two pictures; 1 for equal ones."""
    return _core.ssim(_bytes(a), _bytes(b))
