"""One model from several processes, each with its own rows, the same to the last byte for any number.

On the workers of a `dask.distributed.Client` an estimator takes Dask arrays and Dask frames as they are,
and `fit` takes paths too:

    client = dask.distributed.Client("scheduler:8786")
    machine = KernelRidge(approximate="nystroem(centres=500)")
    machine.fit(X, y)                                       # Dask arrays, or a frame and a series
    mercer.distributed.fit(machine, "rows.npy", "targets.npy")
    mercer.distributed.predict(machine, X).compute()

A worker that is lost costs what it had computed, and no more. Or run a program by
``mpirun -n 8 python program.py``. Every process runs all of it, and gives `fit` its own part of the rows:

>>> import numpy as np
>>> from mercer import KernelRidge
>>> from mercer.distributed import ranks
>>> X = np.linspace(0, 1, 50, dtype=np.float32)[:, None]  # or np.load("rows.npy", mmap_mode="r")
>>> with ranks() as all:
...     own = all.own_rows(len(X))
...     machine = KernelRidge(
...         alpha=1e-3, kernel="rbf", gamma=9, approximate="nystroem(centres=5)"
...     )
...     model = machine.fit(X[own], X[own, 0] ** 2)
>>> bool(abs(model.predict([[.5]])[0] - .25) < .02)
True

Estimators with ``approximate="nystroem(...)"`` can be spread so; others refuse more than one
process. A fit that takes long is kept by `checkpoint`.
"""

from __future__ import annotations

from ._checkpoint import Checkpoint, checkpoint
from ._dask import fit, predict
from ._ranks import Ranks, ranks

__all__ = ["Checkpoint", "Ranks", "checkpoint", "fit", "predict", "ranks"]
