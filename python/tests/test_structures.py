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


def test_kernels_are_functions_of_lists():
    texts, _ = sequences(12)
    kernel = Kernel("spectrum(k=3)")
    plain = np.array([[spectrum(a, b, 3) for b in texts] for a in texts], dtype=float)
    assert (kernel(texts) == plain).all()
    assert (kernel(texts[:3], np.array(texts, dtype=object)) == plain[:3]).all()
    assert (kernel.diag(texts) == np.diag(plain)).all()


def test_words_by_inverse_document_frequency():
    sklearn = pytest.importorskip("sklearn.feature_extraction.text")
    drawn = np.random.default_rng(5)
    words = ["w" + str(i) for i in range(60)]
    texts = [" ".join(drawn.choice(words, 20, p=np.arange(1, 61) / 1830)) for _ in range(50)]
    y = np.array([text.count("w5") > 4 for text in texts])
    kernel = mercer.kernels.words(idf=True)
    assert str(kernel) == "words(idf=true)"
    machine = SVC(kernel="normalize(words(idf=true))", C=10, precision="double").fit(texts, y)
    learnt = str(machine.kernel_)
    weights = sklearn.TfidfVectorizer(token_pattern="[a-z0-9]+").fit(texts)
    expected = (weights.transform(texts) @ weights.transform(texts).T).toarray()
    assert np.abs(Kernel(learnt)(texts) - expected).max() < 1e-12
    # One unheard-of word is as rare as those seen once, and makes the text longer.
    counts = Kernel(learnt.removeprefix("normalize(")[:-1])
    assert abs(counts(["unheard"])[0, 0] - (1 + np.log(51 / 2)) ** 2) < 1e-12
    again = pickle.loads(pickle.dumps(machine))
    assert (again.decision_function(texts) == machine.decision_function(texts)).all()


def rings():
    graphs = []
    for i in range(12):
        n = 5 + i % 3
        edges = [(v, (v + 1) % n) for v in range(n)] + [(0, 2)] * (i % 2)
        graphs.append((edges, [v % 2 for v in range(n)]))
    return graphs


def test_graphs_as_other_packages_have_them():
    graphs = rings()
    kernel = Kernel("wl(iterations=3)")
    expected = kernel(graphs)

    def matrix(edges, labels):
        table = np.zeros((len(labels), len(labels)))
        for a, b in edges:
            table[a, b] = table[b, a] = 1
        return table

    ways = [
        [[set(edges), dict(enumerate(labels)), {}] for edges, labels in graphs],
        [(matrix(edges, labels), labels) for edges, labels in graphs],
        [(matrix(edges, labels).tolist(), dict(enumerate(labels))) for edges, labels in graphs],
        [(dict.fromkeys(edges, 1.0), dict(enumerate(labels))) for edges, labels in graphs],
        [
            ({v: [b for a, b in edges if a == v] for v in range(len(labels))}, labels)
            for edges, labels in graphs
        ],
    ]
    for way in ways:
        assert (kernel(way) == expected).all()
    unlabelled = kernel([(edges, None) for edges, _ in graphs])
    assert (unlabelled != expected).any() and unlabelled.shape == expected.shape
    with pytest.raises(ValueError, match="pair of nodes"):
        kernel([([(0, 1, 2)], [0, 1, 1])] * 2)
    with pytest.raises(ValueError, match="no label of it"):
        kernel([({(0, 5)}, {0: 1, 1: 1})] * 2)


def test_series_of_different_lengths():
    length = rng.integers(8, 20, 30)
    waves = [np.sin(np.arange(n) / (2 if i % 2 else 5)) for i, n in enumerate(length)]
    y = np.arange(30) % 2
    kernel = "normalize(gak(sigma=1, counted=true))"
    machine = SVC(kernel=kernel, C=10).fit(waves, y)
    assert machine.score(waves, y) == 1
    assert (machine.predict([waves[1], waves[4][:8]]) == [1, 0]).all()
    with pytest.raises(ValueError, match="one length for both"):
        machine.predict([np.zeros(21), np.zeros(3)])
    rows = mercer.series(waves)
    assert rows.shape == (30, 1 + max(length)) and (rows[:, 0] == length).all()
    assert (Kernel(kernel)(waves) == Kernel(kernel)(rows)).all()
    plane = [np.stack([wave, wave**2], axis=1) for wave in waves]
    both = "normalize(signature(level=3, width=2, counted=true))"
    assert Kernel(both)(plane).shape == (30, 30)
    with pytest.raises(ValueError, match="numbers a moment"):
        mercer.series([np.zeros((3, 2)), np.zeros((3, 1))])


@pytest.mark.parametrize("name", ["KernelPCA", "KernelKMeans", "Nystroem"])
def test_machines_without_labels(name):
    texts, _ = sequences()
    settings = {"n_clusters": 2} if name == "KernelKMeans" else {"n_components": 6}
    machine = getattr(mercer, name)(kernel="normalize(spectrum(k=3))", **settings).fit(texts)
    apply = "predict" if name == "KernelKMeans" else "transform"
    again = pickle.loads(pickle.dumps(machine))
    found = getattr(machine, apply)(texts[:7])
    assert len(found) == 7
    assert (getattr(again, apply)(texts[:7]) == found).all()
