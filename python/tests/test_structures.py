"""Texts and graphs through the estimators."""

import pickle

import mercer
import numpy as np
import pytest
from mercer import SVC, Kernel

rng = np.random.default_rng(3)


def sequences(n=60):
    texts, y = [], []
    for i in range(n):
        letters = rng.choice(list("ACGT"), 24)
        text = "".join(letters)
        if i % 2:
            text = text[:8] + "TATATA" + text[14:]
        texts.append(text)
        y.append("site" if i % 2 else "none")
    return texts, np.array(y)


def spectrum(x, z, k):
    def count(text):
        counts = {}
        for i in range(len(text) - k + 1):
            counts[text[i : i + k]] = counts.get(text[i : i + k], 0) + 1
        return counts

    a, b = count(x), count(z)
    return sum(v * b.get(u, 0) for u, v in a.items())


def test_list_of_strings():
    texts, y = sequences()
    machine = SVC(kernel=Kernel("normalize(spectrum(k=3))"), C=10).fit(texts, y)
    assert machine.score(texts, y) > 0.9
    assert machine.report_.converged
    again = pickle.loads(pickle.dumps(machine))
    assert (again.decision_function(texts) == machine.decision_function(texts)).all()
    plain = np.array([[spectrum(a, b, 3) for b in texts] for a in texts], dtype=float)
    scale = np.sqrt(np.diag(plain))
    other = SVC(kernel="precomputed", C=10).fit(plain / np.outer(scale, scale), y)
    found = machine.decision_function(texts)
    expected = other.decision_function(plain / np.outer(scale, scale))
    assert np.abs(found - expected).max() < 5e-3


def test_other_containers_and_refusals():
    texts, y = sequences(30)
    machine = SVC(kernel="spectrum(k=2)").fit(np.array(texts), y)
    expected = machine.predict(texts)
    assert (machine.predict(np.array(texts, dtype=object)) == expected).all()
    assert (machine.predict(tuple(texts)) == expected).all()
    with pytest.raises(ValueError, match="numbers alone"):
        machine.predict(np.zeros((3, 1)))
    with pytest.raises(ValueError, match="among texts"):
        machine.predict(["ACGT", None])
    with pytest.raises(ValueError, match="reads numbers"):
        SVC(kernel="rbf").fit(texts, y)
    with pytest.raises(ValueError, match="reads texts"):
        SVC(kernel="spectrum(k=2)").fit(np.zeros((4, 2)), [0, 1, 0, 1])
    again = SVC(kernel="spectrum(k=2)").fit(texts, y)
    again.kernel = "rbf"
    assert again.fit(np.eye(4), [0, 1, 0, 1]).predict(np.eye(4)).tolist() == [0, 1, 0, 1]


def test_frames_mix_text_and_numbers():
    pandas = pytest.importorskip("pandas")
    texts, y = sequences()
    frame = pandas.DataFrame({"age": rng.normal(size=60), "sequence": texts})
    kernel = "rbf(gamma=1)[age] + 0.5*normalize(spectrum(k=3)[sequence])"
    machine = SVC(kernel=kernel, C=10).fit(frame, y)
    assert machine.score(frame, y) > 0.9
    with pytest.raises(ValueError, match="columns"):
        machine.predict(frame[["age"]].assign(other=texts))


def test_tools_of_scikit_learn():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline

    texts, y = sequences()
    machine = SVC(kernel="normalize(spectrum(k=3))")
    assert cross_val_score(machine, texts, y, cv=3).mean() > 0.7
    kernels = [f"normalize(spectrum(k={k}))" for k in (1, 3)]
    search = GridSearchCV(machine, {"kernel": kernels, "C": [1, 10]}, cv=3).fit(texts, y)
    assert search.best_params_["kernel"] == kernels[1]
    assert make_pipeline(clone(machine)).fit(texts, y).score(texts, y) > 0.8


def test_saved_models(tmp_path):
    texts, y = sequences()
    machine = SVC(kernel="spectrum(k=3)", C=1).fit(texts, y)
    machine.save(tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert (again.predict(texts) == machine.predict(texts)).all()
