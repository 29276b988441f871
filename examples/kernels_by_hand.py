"""Kernels by hand: what a kernel is, how to write one, and how to tell a good one from a bad one.

Run it with ``python examples/kernels_by_hand.py``.
"""

import numpy as np

from mercer import SVC, KernelPCA, MonomialFeatures, function, normalize, poly, rbf, sigmoid
from mercer.data import make

# 1. A kernel is a dot product in a feature space. For (1 + x.z)^2 the space can be written down.
X, y = make("xor", n=200, seed=7)
features = MonomialFeatures(degree=2).fit(X)
phi = features.transform(X)
print("features of (1 + x.z)^2:", ", ".join(features.get_feature_names_out()))
assert np.allclose(phi @ phi.T, poly(degree=2)(X))

# 2. So a plane in that space is a curve here: XOR, which no line separates, is separated.
print("linear:    ", SVC(kernel="linear").fit(X, y).score(X, y))
print("polynomial:", SVC(kernel=poly(degree=2)).fit(X, y).score(X, y))

# 3. Kernels add, multiply, see some columns only; they print as text that reads back.
k = rbf(gamma=0.5) + 0.3 * poly(degree=2)[0:1]
print("written:   ", k)
print("it is", k.definiteness, "because")
for reason in k.definiteness.reasons:
    print("  " * (reason.depth + 1) + f"{reason.part}: {reason.because}")

# 4. Not every similarity is a kernel: its Gram matrix then has a negative eigenvalue.
bad = sigmoid(gamma=1, coef0=-1)
print(
    "sigmoid is", bad.definiteness, "| least eigenvalue", np.linalg.eigvalsh(bad(X)).min().round(3)
)
assert np.linalg.eigvalsh(bad(X)).min() < -1e-6
assert np.linalg.eigvalsh(k(X)).min() > -1e-9

# 5. A kernel of your own is a function of two blocks of rows.
cosine = function(
    lambda A, B: (A @ B.T) / np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1)),
    name="cosine",
    known_pd=True,
)
assert np.allclose(cosine(X), normalize(poly(degree=1, coef0=0))(X))
print("own kernel:", SVC(kernel=cosine**2).fit(X, y).score(X, y))

# 6. The same kernel serves any machine that needs dot products only.
print("variances along the first components:", KernelPCA(3, kernel=k).fit(X).eigenvalues_.round(2))
