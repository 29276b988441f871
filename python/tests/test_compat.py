"""scikit-learn's parameters taken as they are, and versions of it that are too old."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mercer


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_parameters_of_scikit_learns_machine_are_taken_as_they_are(name, moons) -> None:
    svm = pytest.importorskip("sklearn.svm")
    X, y = moons
    told = getattr(svm, name)().get_params()
    if name == "NuSVC":
        del told["class_weight"]  # which scikit-learn ignores
    theirs, ours = getattr(svm, name)().fit(X, y), getattr(mercer, name)(**told).fit(X, y)
    use = "decision_function" if hasattr(theirs, "decision_function") else "predict"
    np.testing.assert_allclose(getattr(ours, use)(X), getattr(theirs, use)(X), atol=2e-2)


def test_deprecated_is_not_a_wish_for_probabilities(moons) -> None:
    X, y = moons
    model = mercer.SVC(probability="deprecated").fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ValueError, match="probabilities"):
        model._probabilities(X)  # no folds were run
    for bad in ("yes", 0.5, [True]):
        with pytest.raises(TypeError, match="probability = .* must be True or False"):
            mercer.SVC(probability=bad).fit(X, y)
    assert hasattr(mercer.SVC(probability=np.bool_(True)), "predict_proba")


OLD = {
    "__init__.py": "__version__ = '1.5.2'",
    "base.py": "BaseEstimator = ClassifierMixin = ClusterMixin = OutlierMixin = object\n"
    "RegressorMixin = TransformerMixin = object",
    "exceptions.py": "class ConvergenceWarning(UserWarning): pass\n"
    "class NotFittedError(ValueError): pass",
    "utils/__init__.py": "",
    "utils/metaestimators.py": "def available_if(check): return lambda method: method",
    "utils/validation.py": "def check_array(X): return X",
}


def imported(folder: pathlib.Path, code: str) -> subprocess.CompletedProcess:
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); {code}"
    words = [sys.executable, "-W", "always", "-c", code]
    return subprocess.run(words, capture_output=True, text=True, check=True)


def test_a_scikit_learn_that_is_too_old_is_told_of(tmp_path) -> None:
    for name, text in OLD.items():
        path = tmp_path / "sklearn" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    use = "mercer.SVC().fit([[0.], [1.]], [0, 1]).score([[0.]], [0])"
    done = imported(tmp_path, f"import mercer; print({use})")
    assert done.stdout.strip() == "1.0"
    assert "scikit-learn 1.5.2 is too old" in done.stderr and "scikit-learn>=1.6" in done.stderr


def test_no_scikit_learn_is_nothing_to_tell_of(tmp_path) -> None:
    done = imported(tmp_path, "sys.modules['sklearn'] = None; import mercer")
    assert done.stderr == ""
