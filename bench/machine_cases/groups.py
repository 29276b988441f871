"""Groups, components, features and neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.machine_cases.rules import OURS, Case, Check, Place, Work
from bench.machine_cases.sets import california, mnist, usps

GAMMA = 0.01  # of usps, whose pixels go from -1 to 1


def _means_ours(kernel: str):
    def make(x: np.ndarray, place: Place) -> Work:
        from mercer import KernelKMeans

        machine = KernelKMeans(10, kernel=kernel, n_init=4, random_state=1, n_jobs=place.threads)
        return Work(lambda: machine.fit(x), lambda m: {"objective": m.report_.figures["objective"]})

    return make


def _means_sklearn(x: np.ndarray, place: Place) -> Work:
    from sklearn.cluster import KMeans

    machine = KMeans(10, n_init=4, tol=0, random_state=1)
    return Work(lambda: machine.fit(x), lambda m: {"objective": float(m.inertia_)})


def _means_tslearn(x: np.ndarray, place: Place) -> Work:
    from tslearn.clustering import KernelKMeans

    machine = KernelKMeans(10, kernel="rbf", kernel_params={"gamma": GAMMA}, n_init=4, tol=0,
                           max_iter=300, random_state=1)  # fmt: skip
    return Work(lambda: machine.fit(x[:, :, None]), lambda m: {"objective": _inertia(x, m.labels_)})


def _inertia(x: np.ndarray, labels: np.ndarray) -> float:
    """Squared distances from the means in feature space: tslearn's own figure leaves out a term."""
    from sklearn.metrics.pairwise import rbf_kernel

    total = 0.0
    for label in np.unique(labels):
        rows = x[labels == label]
        total += len(rows) - float(rbf_kernel(rows, gamma=GAMMA).sum()) / len(rows)
    return total


def _pca_ours(x: np.ndarray, place: Place) -> Work:
    from mercer import KernelPCA

    machine = KernelPCA(16, kernel="rbf", gamma=GAMMA, n_jobs=place.threads)
    return Work(lambda: machine.fit(x), lambda m: {"eigenvalues": m.eigenvalues_.tolist()})


def _pca_sklearn(x: np.ndarray, place: Place) -> Work:
    from sklearn.decomposition import KernelPCA

    machine = KernelPCA(16, kernel="rbf", gamma=GAMMA, eigen_solver="arpack", n_jobs=place.threads)
    return Work(lambda: machine.fit(x), lambda m: {"eigenvalues": m.eigenvalues_.tolist()})


def _features(module: str):
    def make(x: np.ndarray, place: Place) -> Work:
        if module == OURS:
            from mercer import Nystroem
        else:
            from sklearn.kernel_approximation import Nystroem

        machine = Nystroem(kernel="rbf", gamma=0.1, n_components=500, random_state=1, n_jobs=place.threads)

        def answers(features: np.ndarray) -> dict[str, float]:
            from sklearn.metrics.pairwise import rbf_kernel

            some = features[:500]
            exact = rbf_kernel(x[:500], gamma=0.1)
            return {"error": float(np.abs(some @ some.T - exact).mean())}

        return Work(lambda: machine.fit_transform(x), answers)

    return make


def _neighbours(module: str):
    def make(data: Any, place: Place) -> Work:
        if module == OURS:
            from mercer import KNeighborsClassifier
        else:
            from sklearn.neighbors import KNeighborsClassifier

        x, y, test = data
        machine = KNeighborsClassifier(5, n_jobs=place.threads)
        return Work(lambda: machine.fit(x, y).predict(test), lambda found: {"labels": found.tolist()})

    return make


def _digits(place: Place) -> Any:
    x, y = mnist(place, place.rows(10_000))
    return x, y, mnist(place, place.rows(4_000), "t10k")[0]


def _quantiser(x: np.ndarray, place: Place) -> Work:
    from mercer import KernelVQ

    machine = KernelVQ(0.3, kernel="rbf", gamma=0.05, n_jobs=place.threads)
    return Work(lambda: machine.fit(x), lambda m: {"codes": len(m.codes_), "distortion": float(m.distortion_)})


CASES = (
    Case("k-means", "MNIST's first 10 000 × 784, 10 groups, 4 starts; objectives of other starts differ",
         lambda place: mnist(place, place.rows(10_000))[0],
         {OURS: _means_ours("linear"), "scikit-learn KMeans": _means_sklearn},
         {"objective": Check("no more", 0.01)}),
    Case("kernel-k-means", "usps's first 2000 × 256, rbf(gamma=0.01), 10 groups, 4 starts",
         lambda place: usps(place, place.rows(2_000))[0],
         {OURS: _means_ours("rbf(gamma=0.01)"), "tslearn KernelKMeans": _means_tslearn},
         {"objective": Check("no more", 0.01)}),
    Case("kernel-pca", "usps, 7291 × 256, rbf(gamma=0.01), 16 components",
         lambda place: usps(place, place.rows(7_291))[0],
         {OURS: _pca_ours, "scikit-learn KernelPCA, arpack": _pca_sklearn},
         {"eigenvalues": Check("same", 1e-5)}),
    Case("nystroem", "California housing, 20 640 × 8, rbf(gamma=0.1), 500 centres: features of all rows; mean "
         "error of a kernel value", lambda place: california(place, place.rows(20_640))[0],
         {OURS: _features(OURS), "scikit-learn Nystroem": _features("scikit-learn")},
         {"error": Check("no more", 0.25)}),
    Case("neighbours", "MNIST, 5 nearest of 10 000 × 784 for 4000 test rows", _digits,
         {OURS: _neighbours(OURS), "scikit-learn KNeighborsClassifier": _neighbours("scikit-learn")},
         {"labels": Check("agree", 0.005)}),
    Case("vq", "California housing, 20 000 × 8, rbf(gamma=0.05), radius 0.3; wanted: 15 s; no peer",
         lambda place: california(place, place.rows(20_000))[0], {OURS: _quantiser}, {},
         ("codes", "distortion")),
)  # fmt: skip
