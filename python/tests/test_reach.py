"""Python does what the command line does: every command, every machine, every setting of one."""

from __future__ import annotations

import inspect
import pathlib
import re

import pytest

import mercer
from mercer import _core
from mercer._common.base import Machine
from mercer._common.parameters import PARAMETER_OF

#: What Python has in the place of each command. `attribute.of.mercer`, or "Class.method".
COMMANDS = {
    "align": ("alignment", "alignment_gradient", "learn_combination"),
    "answer": ("KernelDependency.predict", "KernelDependency.nearest"),
    "bounds": ("theory.machine_bounds", "theory.vc_risk", "theory.rademacher_complexity"),
    "calibrate": ("calibrate",),
    "cascade": ("cascade", "run_cascade"),
    "cca": ("KernelCCA",),
    "compare": ("compare",),
    "conformal": ("prediction_sets", "prediction_intervals", "outlier_p_values"),
    "convert": ("data.read", "data.write"),
    "denoise": ("pictures.denoise", "KernelPCA.inverse_transform"),
    "depend": ("KernelDependency",),
    "detect": ("pictures.detect",),
    "equivalent": ("theory.equivalent_settings",),
    "export": ("export", "to_sklearn"),
    "features": ("eliminate_features", "zero_norm_features", "permutation_importance"),
    "gram": ("Kernel.__call__", "gram_function"),
    "ica": ("KernelICA", "KernelTDSEP"),
    "info": ("column_kinds",),
    "judge": ("judge",),
    "kernel": ("Kernel.definiteness", "Kernel.feature_dimension", "Kernel.test_on"),
    "learn": ("learn", "TableModel"),
    "make": ("data.make",),
    "map": ("KernelMap", "Nystroem", "MonomialFeatures"),
    "margin": ("theory.plane_margin", "theory.machine_margin"),
    "multilabel": ("MultiLabelClassifier",),
    "plan": ("plan",),
    "plot": ("plot.decision_regions",),
    "predict": ("SVC.predict", "SVC.decision_function", "SVC.predict_proba"),
    "query": ("query",),
    "reduce": ("SVC.reduced",),
    "scale": ("FeatureScaling",),
    "show": ("load", "Report", "SVC._repr_html_"),
    "spread": ("LabelSpreading",),
    "srm": ("theory.structural_risk",),
    "superres": ("pictures.SuperResolution",),
    "tangent": ("pictures.TangentMap",),
    "train": ("SVC.fit", "save"),
    "transform": ("KernelPCA.transform",),
    "tune": ("SearchCV", "align_parameters", "theory.radius_margin_search"),
    "verify": ("verify",),
    "virtual": ("pictures.virtual_examples", "pictures.changed"),
    "vq": ("KernelVQ", "KernelVQ.lbg", "KernelVQ.write_codes", "read_codes"),
}
#: Commands that are the shell's own, each with its reason.
NOT_FOR_PYTHON = {
    "completion": "completes words in a shell",
    "man": "manual pages",
    "split": "scikit-learn's train_test_split, or slices",
    "studio": "opens a page",
    "svm-predict": "LIBSVM's program",
    "svm-scale": "LIBSVM's program",
    "svm-train": "LIBSVM's program",
}
#: Machines that estimators of another task name train.
OTHERWISE = {"hard": mercer.SVC, "cca": mercer.KernelCCA, "dependency": mercer.KernelDependency}
#: Settings of machines that no parameter gives, to become fewer.
MISSING: dict[str, set[str]] = {}


def commands() -> set[str]:
    """What cli/ calls its commands."""
    folder = pathlib.Path(__file__).parents[2] / "cli"
    if not folder.is_dir():
        pytest.skip("the sources of the command line are not here")
    found = set()
    for path in folder.rglob("*.cpp"):
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r'add_(?:command|subcommand)\(\s*(?:\w+,\s*)*"([a-z-]+)"', text))
    return found


def test_every_command_has_its_place() -> None:
    known = commands()
    assert len(known) > 35
    assert known - set(NOT_FOR_PYTHON) <= set(COMMANDS), known - set(NOT_FOR_PYTHON) - set(COMMANDS)
    assert set(COMMANDS) <= known, set(COMMANDS) - known


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_what_is_named_is_there(command) -> None:
    for name in COMMANDS[command]:
        found = mercer
        for part in name.split("."):
            assert part in dir(found) or hasattr(found, part), name
            found = (
                inspect.getattr_static(found, part)
                if isinstance(found, type)
                else getattr(found, part)
            )
        assert name.split(".")[0] in mercer.__all__


def estimators() -> dict[str, type[Machine]]:
    """By the task they train."""
    kinds = [
        kind
        for kind in vars(mercer).values()
        if isinstance(kind, type) and issubclass(kind, Machine)
    ]
    named = {kind._task: kind for kind in kinds if kind._task and kind.__name__[:6] != "Linear"}
    return {**named, **OTHERWISE}


def test_every_machine_has_an_estimator_with_all_its_settings() -> None:
    kinds = estimators()
    missing: dict[str, set[str]] = {}
    for task, _, settings in _core.machines():
        assert task in kinds, f"no estimator trains {task}"
        own = set(inspect.signature(kinds[task].__init__).parameters)
        lacks = {name for name in settings if not own & {name, *PARAMETER_OF.get(name, ())}}
        if lacks:
            missing[task] = lacks
    assert missing == MISSING


def test_the_stub_knows_every_name_of_the_extension() -> None:
    import ast

    path = pathlib.Path(mercer.__file__).parent / "_core.pyi"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    named |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    public = {name for name in dir(_core) if not name.startswith("_")}
    assert public == named
