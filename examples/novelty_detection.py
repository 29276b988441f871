"""Novelty detection: learn what is usual from usual rows alone, then find what is not.

Run it with ``python examples/novelty_detection.py``.
"""

import numpy as np

from mercer import SVDD, OneClassSVM, ParzenRegion, rbf
from mercer.data import read

X, y = read("@digits")
X = X / 16
usual, strange = X[y == 0], X[y != 0]
rng = np.random.default_rng(0)
rng.shuffle(usual)
train, unseen = usual[:120], usual[120:]

# 1. The nu-property (001): at most the share nu of the rows outside, at least that share of support
#    vectors. So nu says beforehand how many false alarms to expect.
print("  nu  outside  support vectors")
for nu in (0.02, 0.05, 0.1, 0.2):
    model = OneClassSVM(kernel=rbf(gamma=0.05), nu=nu).fit(train)
    outside = model.report_.fraction_errors
    support = model.report_.fraction_support
    print(f"{nu:4.2f}  {outside:7.3f}  {support:15.3f}")
    assert outside <= nu + 1e-3 and support >= nu - 1e-3

# 2. Three ways to draw the region; the share found of other digits, none of which was seen before.
for model in (
    OneClassSVM(kernel=rbf(gamma=0.05), nu=0.05),
    SVDD(kernel=rbf(gamma=0.05), nu=0.05),
    ParzenRegion(kernel=rbf(gamma=0.05), nu=0.05),
):
    model.fit(train)
    alarm = np.mean(model.predict(unseen) < 0)
    found = np.mean(model.predict(strange) < 0)
    print(f"{type(model).__name__:12s} false alarms {alarm:.1%}, others found {found:.1%}")
    assert found > 0.95 > 0.3 > alarm

# 3. The strangest of the unseen zeros are worth a look.
model = OneClassSVM(kernel=rbf(gamma=0.05), nu=0.05).fit(train)
scores = model.score_samples(unseen)
for i in np.argsort(scores)[:2]:
    picture = (unseen[i].reshape(8, 8) * 4).astype(int)
    print("\n".join("".join(" .:*#"[v] for v in row) for row in picture), "\n")
