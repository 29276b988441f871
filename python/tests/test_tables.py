"""Learning from tables, and judging beside scikit-learn."""

import math

import numpy as np
import pytest

import mercer

sklearn = pytest.importorskip("sklearn")
metrics = pytest.importorskip("sklearn.metrics")


def made_table(rows=240, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows).astype(float)
    city = rng.choice(["Rome", "Oslo", "Bonn"], rows)
    member = rng.random(rows) < 0.5
    score = (age - 45) / 15 + (city == "Rome") * 1.5 - member * 1.0 + rng.normal(size=rows) * 0.3
    gap = rng.random(rows) < 0.1
    return {
        "id": [f"c{i:05d}" for i in range(rows)],
        "age": [None if g else a for a, g in zip(age, gap)],
        "city": list(city),
        "member": [bool(m) for m in member],
        "bought": ["yes" if s > 0 else "no" for s in score],
    }


def test_kinds():
    kinds = {c["name"]: c["kind"] for c in mercer.column_kinds(made_table())}
    assert kinds == {
        "id": "identifier",
        "age": "number",
        "city": "category",
        "member": "yes-no",
        "bought": "yes-no",
    }


def test_learn_predicts_a_lone_row_with_a_gap(tmp_path):
    model = mercer.learn(made_table(), "bought", time=4)
    judged = model.summary_["judgement"]
    assert judged["accuracy"] > judged["baseline"] + 0.1
    low, high = judged["accuracy_interval"]
    assert judged["accuracy_again"][0] < low and high < judged["accuracy_again"][1]
    assert model.summary_["learning_curve"][-1]["error"] == pytest.approx(1 - judged["accuracy"])
    named = {effect["column"] for effect in model.summary_["effects"]}
    assert named and named <= {name for name, _ in model.summary_["importance"]}
    for effect in model.summary_["effects"]:
        assert effect["means"].shape == (1, len(effect["places"]))
        assert 0 <= effect["means"].min() <= effect["means"].max() <= 1
    assert low < judged["accuracy"] < high
    row = {"member": [True], "city": ["Oslo"], "age": [None]}
    assert model.predict(row)[0] in ("yes", "no")
    assert model.predict({"age": [79], "city": ["Rome"], "member": [False]})[0] == "yes"
    assert model.predict({"age": [18], "city": ["Oslo"], "member": [True]})[0] == "no"
    model.save(tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    table = made_table(seed=1)
    assert (again.predict(table) == model.predict(table)).all()
    assert again.judge(table)["accuracy"] == np.mean(model.predict(table) == np.array(table["bought"]))
    with pytest.raises(ValueError, match="lacks the column 'city'"):
        model.predict({"age": [1], "member": [True], "town": ["Rome"]})
    with pytest.warns(UserWarning, match="none of the levels"):
        model.predict({"age": [1], "member": [True], "city": ["Paris"]})


def test_groups_stay_together_and_numbers_are_found():
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    table = {"g": [str(i // 10) for i in range(200)], "x": x, "y": np.sin(x)}
    model = mercer.learn(table, "y", groups="g", time=4)
    assert model.summary_["target"] == "numbers"
    assert model.summary_["rows_set_aside"] % 10 == 0
    assert model.summary_["judgement"]["r2"] > 0.9


def test_judge_agrees_with_sklearn():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 3)) + 0.7 * y[:, None]
    machine = mercer.SVC(probability=True).fit(X[:200], y[:200])
    found = mercer.judge(machine, X[200:], y[200:])
    said = machine.predict(X[200:])
    truth = y[200:]
    score = machine.decision_function(X[200:])
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, said))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, said))
    assert found["confusion"].tolist() == metrics.confusion_matrix(truth, said).tolist()
    p, r, f, _ = metrics.precision_recall_fscore_support(truth, said)
    assert [c["precision"] for c in found["classes"]] == pytest.approx(p.tolist())
    assert [c["recall"] for c in found["classes"]] == pytest.approx(r.tolist())
    assert [c["f1"] for c in found["classes"]] == pytest.approx(f.tolist())
    assert found["roc_area"] == pytest.approx(metrics.roc_auc_score(truth, score))
    assert found["average_precision"] == pytest.approx(metrics.average_precision_score(truth, score))
    chances = machine.predict_proba(X[200:])
    assert found["log_loss"] == pytest.approx(metrics.log_loss(truth, chances))
    assert found["brier"] == pytest.approx(metrics.brier_score_loss(truth, chances[:, 1]))


def test_judge_of_numbers_agrees_with_sklearn():
    rng = np.random.default_rng(2)
    X = rng.uniform(-3, 3, size=(200, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    machine = mercer.SVR(C=10).fit(X[:100], y[:100])
    found = mercer.judge(machine, X[100:], y[100:])
    said = machine.predict(X[100:])
    assert found["rmse"] == pytest.approx(math.sqrt(metrics.mean_squared_error(y[100:], said)))
    assert found["mae"] == pytest.approx(metrics.mean_absolute_error(y[100:], said))
    assert found["r2"] == pytest.approx(metrics.r2_score(y[100:], said))
    assert found["rmse_interval"][0] < found["rmse"] < found["rmse_interval"][1]
