from collections.abc import Callable, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

version: str

def threads() -> int: ...
def memory_limit() -> int: ...
def set_memory_limit(bytes: int) -> None: ...

def export_formats() -> list[str]: ...
def export_model(model: Model, path: str, format: str, name: str, single: bool) -> None: ...
def import_libsvm(path: str, columns: int) -> Model: ...
def import_libsvm_text(text: str, columns: int) -> Model: ...
def libsvm_text(model: Model) -> str: ...

class RankFailed(RuntimeError): ...

class Ranks:
    """The processes that mpirun has started, this one among them."""

    def __init__(self) -> None: ...
    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    def own_rows(self, total: int, /) -> tuple[int, int]: ...
    def all_gather(self, own: bytes, /) -> list[bytes]: ...
    def fail(self, message: str, /) -> None: ...
    def begin(self, all: bool = ...) -> None: ...
    def end(self) -> None: ...

class CarriedPart(Ranks):
    """A part whose messages Python carries."""

    def __init__(self, rank: int, size: int) -> None: ...
    def message(self, seconds: float) -> tuple[str, bytes, list[int]] | None: ...
    def answer(self, bytes: bytes, /) -> None: ...
    def say_end(self) -> None: ...
    def abandon(self) -> None: ...

class KeptState:
    """While it lives, machines write down how far they are."""

    def __init__(self) -> None: ...
    def begin(self, path: str, resume: bool, interval: float) -> None: ...
    def end(self, remove: bool) -> None: ...

def leaf_rows(total: int) -> int: ...

class Threads:
    """Within it, calls of this Python thread use so many threads."""

    def __init__(self, count: int) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *args) -> None: ...

class Rows:
    """Rows of numbers over arrays of NumPy or SciPy, not copied."""

    @overload
    @staticmethod
    def dense(
        values: Annotated[
            NDArray[numpy.float32],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> Rows: ...
    @overload
    @staticmethod
    def dense(
        values: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
    ) -> Rows: ...
    @overload
    @staticmethod
    def sparse(
        values: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        index: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        starts: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        columns: int,
    ) -> Rows: ...
    @overload
    @staticmethod
    def sparse(
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        index: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        starts: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        columns: int,
    ) -> Rows: ...
    @overload
    @staticmethod
    def sparse(
        values: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        index: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        starts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        columns: int,
    ) -> Rows: ...
    @overload
    @staticmethod
    def sparse(
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        index: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        starts: Annotated[
            NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        columns: int,
    ) -> Rows: ...
    @staticmethod
    def structured(
        numbers: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        columns: list,
        parts_of: Callable,
    ) -> Rows: ...
    def texts(self) -> dict: ...
    def __len__(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def address(self) -> int: ...
    def arrays(self) -> tuple: ...

def named_kernels() -> list[tuple[str, str, list[str]]]: ...

class Expression:
    """A kernel expression."""

    @staticmethod
    def parse(arg: str, /) -> Expression: ...
    def text(self) -> str: ...
    def needs_data(self) -> bool: ...
    def add(self, arg: Expression, /) -> Expression: ...
    def subtract(self, arg: Expression, /) -> Expression: ...
    def multiply(self, arg: Expression, /) -> Expression: ...
    def scale(self, arg: float, /) -> Expression: ...
    def power(self, arg: float, /) -> Expression: ...
    def exp(self) -> Expression: ...
    def normalize(self) -> Expression: ...
    def center(self) -> Expression: ...
    def definiteness(
        self, arg0: bool, arg1: bool, /
    ) -> tuple[str, list[tuple[int, str, str, str]]]: ...
    def feature_dimension(self, arg0: int, arg1: bool, arg2: bool, /) -> tuple: ...
    def parameters(self) -> list[tuple[str, str, float]]: ...
    def with_parameters(self, arg: Sequence[float], /) -> Expression: ...
    def resolve(self, arg0: Rows, arg1: Sequence[str], /) -> Expression: ...
    def matrix(self, x: Rows, z: Rows | None, twice: bool, names: Sequence[str]) -> object: ...
    def diagonal(self, arg0: Rows, arg1: Sequence[str], /) -> object: ...
    def slopes(self, arg0: Rows, arg1: Sequence[str], /) -> tuple: ...
    def value(
        self,
        arg0: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        arg1: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        /,
    ) -> float: ...

class Model:
    """A trained machine."""

    @property
    def task(self) -> str: ...
    @property
    def kernel(self) -> Expression: ...
    @property
    def columns(self) -> int: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def has_probabilities(self) -> bool: ...
    @property
    def one_vs_rest(self) -> bool: ...
    def trained(self) -> dict: ...
    @property
    def class_names(self) -> list[str]: ...
    @property
    def target_names(self) -> list[str]: ...
    @property
    def class_values(self) -> list[float]: ...
    @property
    def origins(self) -> NDArray[numpy.int64]: ...
    @property
    def coefficients(self) -> NDArray[numpy.float64]: ...
    @property
    def bias(self) -> NDArray[numpy.float64]: ...
    @property
    def size(self) -> int: ...
    @property
    def double_precision(self) -> bool: ...
    def points(self) -> tuple: ...
    @property
    def objects(self) -> dict: ...
    def texts(self) -> dict: ...
    def arrays(self) -> dict: ...
    @property
    def sigmoids(self) -> NDArray[numpy.float64]: ...
    def report(self) -> dict: ...
    def reports(self) -> list: ...
    def check(
        self,
        x: Rows,
        y: (
            Annotated[
                NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
            ]
            | None
        ),
        weights: (
            Annotated[
                NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
            ]
            | None
        ),
        rigorous: bool,
    ) -> list: ...
    def decision(self, arg: Rows, /) -> object: ...
    def classify(
        self,
        arg: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        /,
    ) -> object: ...
    def sets_of(
        self,
        arg: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        /,
    ) -> object: ...
    def probabilities(self, arg: Rows, /) -> object: ...
    def deviation(self, arg0: Rows, arg1: bool, /) -> object: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(arg: bytes, /) -> Model: ...
    def save(self, arg: str, /) -> None: ...
    @staticmethod
    def load(arg: str, /) -> Model: ...

class Predictor:
    """A model as it is now, made ready to predict from any thread."""

    def __init__(self, arg: Model, /) -> None: ...
    def decision(self, arg: Rows, /) -> object: ...
    def probabilities(self, arg: Rows, /) -> object: ...

def fit(
    task: str,
    kernel: Expression,
    settings: dict,
    x: Rows,
    y: (
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None
    ),
    targets: (
        Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ]
        | None
    ),
    weights: (
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None
    ),
    names: Sequence[str],
    callback: object | None,
    keep: bool,
    classes: Sequence[str] = [],
    class_values: Sequence[float] = [],
    taken: dict | None = None,
    target_names: Sequence[str] = [],
) -> Model: ...
def target_trouble(
    arg0: Model,
    arg1: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    /,
) -> tuple: ...
def machines() -> list: ...

class FeatureMap:
    """A map through a sample."""

    @staticmethod
    def make(
        arg0: str, arg1: Expression, arg2: Rows, arg3: int, arg4: Sequence[str], /
    ) -> FeatureMap: ...
    @staticmethod
    def restore(
        arg0: str,
        arg1: Rows,
        arg2: Rows,
        arg3: Annotated[
            NDArray[numpy.float64],
            dict(shape=(None, None), order="C", device="cpu", writable=False),
        ],
        arg4: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        /,
    ) -> FeatureMap: ...
    @property
    def features(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def kernel(self) -> Expression: ...
    @property
    def eigenvalues(self) -> NDArray[numpy.float64]: ...
    @property
    def coefficients(self) -> NDArray[numpy.float64]: ...
    def points(self) -> tuple: ...
    def reference(self) -> tuple: ...
    def __call__(self, arg: Rows, /) -> object: ...

def preimages(
    arg0: Model,
    arg1: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    arg2: str,
    arg3: int,
    /,
) -> tuple: ...
def reconstruction_errors(arg0: Model, arg1: Rows, /) -> object: ...
def gram_function(
    arg0: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
    ],
    arg1: str,
    /,
) -> object: ...
def lbg_codes(arg0: Rows, arg1: Rows, /) -> tuple: ...
def monomials(arg0: Rows, arg1: int, arg2: float, arg3: float, /) -> object: ...
def monomial_names(arg0: int, arg1: int, arg2: float, arg3: float, /) -> list[str]: ...
def plan(
    task: str,
    kernel: Expression,
    settings: dict,
    x: Rows,
    y: (
        Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ]
        | None
    ),
    names: Sequence[str],
    seconds: float,
    callback: object | None = None,
) -> tuple: ...
def fit_cca(
    kernel_x: Expression,
    kernel_y: Expression,
    settings: dict,
    x: Rows,
    y: Rows,
    callback: object | None,
) -> Model: ...
def fit_dependency(
    kernel_x: Expression,
    kernel_y: Expression,
    settings: dict,
    x: Rows,
    y: Rows,
    callback: object | None,
) -> Model: ...
def make_outputs(arg0: Model, arg1: Rows, arg2: str, arg3: int, /) -> tuple: ...
def choose_outputs(arg0: Model, arg1: Rows, arg2: Rows, /) -> tuple: ...
def companion_of(arg: Model, /) -> object: ...

class HebbianStream:
    """Components learnt from rows that are not kept."""

    def __init__(self, kernel: Expression, settings: dict) -> None: ...
    def feed(self, rows: Rows, callback: object | None) -> None: ...
    def model(self) -> Model: ...
    @property
    def seen(self) -> int: ...

class PerceptronStream:
    """A perceptron that keeps its mistakes."""

    def __init__(self, arg0: Expression, arg1: int, arg2: int, arg3: dict, /) -> None: ...
    def feed(
        self,
        arg0: Rows,
        arg1: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        /,
    ) -> int: ...
    def model(self, arg0: Sequence[str], arg1: Sequence[float], /) -> Model: ...
    @property
    def steps(self) -> int: ...
    @property
    def points(self) -> int: ...

def latent(model: Model, x: Rows) -> tuple: ...
def axis_values(axis: str) -> list[float]: ...
def neighbours(model: Model, x: Rows | None, count: int, distances: bool) -> tuple: ...
def spread_labels(
    kernel: Expression,
    settings: dict,
    x: Rows,
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    names: Sequence[str],
    callback: object | None,
    classes: Sequence[str],
    class_values: Sequence[float],
) -> tuple: ...
def conformal_sets(
    arg0: Model,
    arg1: Rows,
    arg2: Rows,
    arg3: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg4: dict,
    /,
) -> object: ...
def conformal_intervals(
    arg0: Model,
    arg1: Rows,
    arg2: Rows,
    arg3: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg4: dict,
    /,
) -> object: ...
def conformal_p_values(arg0: Model, arg1: Rows, arg2: Rows, /) -> object: ...
def kernel_alignment(
    arg0: Expression,
    arg1: Rows,
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg3: bool,
    arg4: int,
    arg5: Sequence[str],
    /,
) -> tuple: ...
def alignment_gradient(
    arg0: Expression,
    arg1: Rows,
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg3: bool,
    arg4: int,
    arg5: Sequence[str],
    /,
) -> tuple: ...
def align_parameters(
    arg0: Expression,
    arg1: Rows,
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg3: bool,
    arg4: int,
    arg5: Sequence[str],
    /,
) -> dict: ...
def combine_kernels(
    kernels: Sequence[Expression],
    by: str,
    settings: dict,
    x: Rows,
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    names: Sequence[str],
    callback: object | None,
) -> dict: ...
def bound(arg0: str, arg1: Sequence[float], /) -> dict: ...
def bounds_of_model(
    model: Model,
    x: Rows,
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    delta: float,
    leave_one_out: bool,
    callback: object | None,
) -> list: ...
def rademacher_complexity(
    arg0: Expression, arg1: Rows, arg2: Sequence[str], arg3: dict, /
) -> dict: ...
def vc_entropy(arg0: Expression, arg1: Rows, arg2: Sequence[str], arg3: dict, /) -> list: ...
def margin_of_plane(
    arg0: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg1: float,
    arg2: Rows,
    arg3: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    /,
) -> dict: ...
def margin_of_model(
    arg0: Model,
    arg1: Rows,
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    /,
) -> dict: ...
def eliminate_features(
    kernel: Expression,
    settings: dict,
    x: Rows,
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    callback: object | None,
) -> dict: ...
def zero_norm_features(
    kernel: Expression,
    settings: dict,
    x: Rows,
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    callback: object | None,
) -> dict: ...
def read(
    path: str,
    twice: bool,
    format: str,
    label: str,
    known: Model | None,
    most_bytes: int = 0,
    spool: str = "",
) -> tuple: ...

class ArrowStream:
    """A table that comes batch after batch, and once."""

    def __init__(
        self,
        capsule: object,
        name: str,
        is_file: bool,
        label: str,
        weights: str,
        known: Sequence[str],
        twice: bool,
        missing: str,
        most_bytes: int,
        spool: str,
        model: Model | None = None,
    ) -> None: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def columns(self) -> int: ...
    @property
    def label_kind(self) -> str: ...
    def next(self, rows: int) -> tuple | None: ...
    def rest(self) -> tuple: ...

def write(
    arg0: str,
    arg1: Rows,
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg3: Sequence[str],
    arg4: Sequence[str],
    arg5: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg6: str,
    /,
) -> None: ...

class Scaling:
    """A map from rows to rows, column by column or row by row."""

    @staticmethod
    def fit(arg0: str, arg1: Rows, /) -> Scaling: ...
    @staticmethod
    def from_json(arg: str, /) -> Scaling: ...
    def json(self) -> str: ...
    def apply(self, arg: Rows, /) -> tuple: ...
    def undo(self, arg: Rows, /) -> tuple: ...

def formats() -> dict: ...
def make(arg0: str, arg1: dict, /) -> tuple: ...

class Table:
    """The cells of a table."""

    @property
    def rows(self) -> int: ...
    @property
    def names(self) -> list[str]: ...

def table_from(arg0: Sequence[str], arg1: Sequence[Sequence[str]], /) -> Table: ...
def read_table(arg: str, /) -> Table: ...
def profile(arg: Table, /) -> list: ...
def learn_table(
    arg0: Table,
    arg1: str,
    arg2: Sequence[tuple[str, str]],
    arg3: Sequence[str],
    arg4: Sequence[str],
    arg5: Sequence[str],
    arg6: dict,
    /,
) -> tuple: ...
def rows_for_model(arg0: Model, arg1: Table, arg2: str, /) -> tuple: ...
def has_recipe(arg: Model, /) -> bool: ...
def judge_rows(
    arg0: Model,
    arg1: Rows,
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg3: Sequence[str],
    arg4: str,
    /,
) -> dict: ...
def tune(
    task: str,
    kernel: str,
    machine: dict,
    axes: Sequence[str],
    how: dict,
    x: Rows,
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    names: Sequence[str],
    callback: object | None,
) -> dict: ...
def tune_cells(
    task: str,
    kernel: str,
    machine: dict,
    axes: Sequence[str],
    how: dict,
    x: Rows,
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    names: Sequence[str],
    classes: Sequence[str],
    class_values: Sequence[float],
    callback: object | None,
) -> tuple: ...
def structural_risk(
    family: str,
    values: Sequence[float],
    kernel: Expression,
    settings: dict,
    x: Rows,
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    callback: object | None,
) -> dict: ...
def equivalent_settings(arg: Model, /) -> list: ...
def query_nearest(arg0: Model, arg1: Rows, arg2: int, /) -> tuple: ...
def query_halving(
    arg0: Expression,
    arg1: dict,
    arg2: Rows,
    arg3: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg4: Rows,
    arg5: int,
    arg6: int,
    /,
) -> tuple: ...
def permutation_importance(
    arg0: Model,
    arg1: Rows,
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg3: str,
    arg4: int,
    arg5: int,
    /,
) -> tuple: ...
def calibrated(
    arg0: Model,
    arg1: Rows,
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg3: str,
    /,
) -> Model: ...
def compare(
    arg0: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg1: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg3: bool,
    /,
) -> dict: ...
def mercer_test(
    arg0: Expression, arg1: Rows, arg2: Sequence[str], arg3: int, arg4: int, /
) -> dict: ...
def radius_margin(
    kernel: Expression,
    C: float,
    x: Rows,
    y: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    callback: object | None,
) -> dict: ...
def reduced(
    model: Model, vectors: int, error: float, method: str, joint: bool, iterations: int
) -> Model: ...
def make_cascade(
    arg0: Model,
    arg1: Rows,
    arg2: Annotated[
        NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
    ],
    arg3: str,
    arg4: float,
    arg5: Sequence[int],
    /,
) -> Model: ...
def run_cascade(arg0: Model, arg1: Rows, /) -> tuple: ...
def is_cascade(arg: Model, /) -> bool: ...
def write_codes(arg0: Rows, arg1: Sequence[int], arg2: float, arg3: str, /) -> None: ...
def read_codes(arg: str, /) -> tuple: ...

class FeatureVector:
    """A linear combination of images of rows."""

    @staticmethod
    def combination(
        arg0: Expression,
        arg1: Rows,
        arg2: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        /,
    ) -> FeatureVector: ...
    @staticmethod
    def mean(
        arg0: Expression,
        arg1: Rows,
        arg2: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        /,
    ) -> FeatureVector: ...
    @staticmethod
    def of_model(arg0: Model, arg1: int, /) -> FeatureVector: ...
    @property
    def kernel(self) -> Expression: ...
    def points(self) -> tuple: ...
    @property
    def columns(self) -> int: ...
    @property
    def coefficients(self) -> NDArray[numpy.float64]: ...
    def add(self, arg: FeatureVector, /) -> FeatureVector: ...
    def subtract(self, arg: FeatureVector, /) -> FeatureVector: ...
    def times(self, arg: float, /) -> FeatureVector: ...
    def inner(self, arg: FeatureVector, /) -> float: ...
    def norm(self) -> float: ...
    def distance(self, arg: FeatureVector, /) -> float: ...
    def with_images(self, arg: Rows, /) -> object: ...
    def distances(self, arg: Rows, /) -> object: ...

def variance_of_images(arg0: Expression, arg1: Rows, /) -> float: ...
def changed_rows(arg0: Rows, arg1: str, arg2: str, arg3: float, /) -> tuple: ...
def tangent_matrix(
    arg0: Rows, arg1: str, arg2: str, arg3: float, arg4: float, arg5: bool, /
) -> object: ...
def detect(
    arg0: Model,
    arg1: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    arg2: dict,
    /,
) -> dict: ...
def denoised_picture(
    arg0: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    arg1: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    arg2: Expression,
    arg3: dict,
    /,
) -> object: ...
def learn_enlarging(arg0: list, arg1: Expression, arg2: dict, /) -> Model: ...
def enlarged_picture(
    arg0: Model,
    arg1: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    arg2: int,
    /,
) -> object: ...
def read_picture(arg: str, /) -> object: ...
def write_picture(
    arg0: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    arg1: str,
    /,
) -> None: ...
def stretched_picture(
    arg0: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    arg1: int,
    arg2: str,
    /,
) -> object: ...
def shrunk_picture(
    arg0: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    arg1: int,
    /,
) -> object: ...
def psnr(
    arg0: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    arg1: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    /,
) -> float: ...
def ssim(
    arg0: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    arg1: Annotated[NDArray[numpy.uint8], dict(order="C", device="cpu", writable=False)],
    /,
) -> float: ...
