"""Digits from the lecture: one polynomial machine for ten digits, with its certificate.

The lectures' example of machines at work is the recognition of handwritten digits. Run it with
``python examples/digits_from_the_lecture.py``.
"""

import numpy as np

from mercer import SVC, KernelPerceptron, NuSVC, ParzenClassifier, poly, rbf
from mercer.data import read

X, y = read("@digits")
X = X / 16
order = np.random.default_rng(1).permutation(len(X))
train, test = order[:1200], order[1200:]

# 1. The same machine with polynomials of growing degree, as in the lecture's table.
print("degree  support vectors  errors of", len(test))
for degree in (1, 2, 3, 4):
    model = SVC(kernel=poly(degree=degree, gamma=1 / 64), C=10).fit(X[train], y[train])
    wrong = int(np.sum(model.predict(X[test]) != y[test]))
    print(f"{degree:6d}  {len(model.support_):15d}  {wrong:6d}")

# 2. The certificate: how far the machine can be from the optimum, for all 45 pairs together.
model = SVC(kernel=rbf(gamma=0.5), C=10).fit(X[train], y[train])
report = model.report_
print(
    f"rbf: {model.score(X[test], y[test]):.1%} right; {report.status}, "
    f"relative gap {report.relative_gap:.1e}, violation {report.kkt_violation:.1e}"
)
assert model.score(X[test], y[test]) > 0.97 and report.relative_gap < 1e-2

# 3. The lectures' simpler machines on the same rows.
for other in (
    ParzenClassifier(kernel=rbf(gamma=0.5)),
    KernelPerceptron(kernel=poly(degree=3, gamma=1 / 64), variant="averaged"),
    NuSVC(kernel=rbf(gamma=0.5), nu=0.05),
):
    print(f"{type(other).__name__:18s} {other.fit(X[train], y[train]).score(X[test], y[test]):.1%}")

# 4. Which digits are taken for which others?
guess = model.predict(X[test])
for true, said in sorted({(t, g) for t, g in zip(y[test], guess) if t != g}):
    print(f"a {true:g} taken for a {said:g}: {np.sum((y[test] == true) & (guess == said))} times")
