"""The sets of data as lines of LIBSVM text, from the folder they are kept in: numbers scaled, letters and words counted."""

from __future__ import annotations

import collections
import csv
import gzip
import math
import pathlib
import random
import re
import tarfile
from collections.abc import Callable, Iterable, Sequence

Row = tuple[str, Sequence[float]]  # label, values
SEED = 1


def lines_of(path: pathlib.Path) -> list[str]:
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path)
    with opened as file:
        return [line.rstrip() for line in file if line.strip()]


def table(path: pathlib.Path, separator: str | None, label: int, header: bool = False) -> list[Row]:
    """Rows of a text table; `label` is the column of the label, 0 or -1."""
    rows: list[Row] = []
    for line in lines_of(path)[1 if header else 0 :]:
        fields = next(csv.reader([line])) if separator == "," else line.split(separator)
        name = fields.pop(label)
        rows.append((f"{float(name):g}", [float(field) for field in fields]))
    return rows


def standardise(train: list[Row], others: list[Row]) -> tuple[list[Row], list[Row]]:
    """Mean 0 and variance 1 in every column of the training rows."""
    moments = []
    for column in zip(*(values for _, values in train)):
        mean = math.fsum(column) / len(column)
        spread = math.sqrt(math.fsum((v - mean) ** 2 for v in column) / len(column))
        moments.append((mean, 1 / spread if spread > 0 else 0.0))
    return _mapped(train, moments), _mapped(others, moments)


def unit_ranges(train: list[Row]) -> list[Row]:
    """Smallest value 0, largest 1 in every column; constant columns become 0."""
    moments = []
    for column in zip(*(values for _, values in train)):
        width = max(column) - min(column)
        moments.append((min(column), 1 / width if width > 0 else 0.0))
    return _mapped(train, moments)


def _mapped(rows: list[Row], moments: list[tuple[float, float]]) -> list[Row]:
    return [(y, [(v - a) * b for v, (a, b) in zip(values, moments)]) for y, values in rows]


def libsvm_lines(rows: Iterable[Row]) -> list[str]:
    """9 digits: every number of single precision is told from its neighbours."""
    return [
        y + "".join(f" {k}:{v:.9g}" for k, v in enumerate(values, 1) if v != 0)
        for y, values in rows
    ]


def mnist_lines(folder: pathlib.Path, part: str, only: int | None = None) -> list[str]:
    pixels = gzip.decompress((folder / f"{part}-images-idx3-ubyte.gz").read_bytes())[16:]
    labels = gzip.decompress((folder / f"{part}-labels-idx1-ubyte.gz").read_bytes())[8:]
    value = [f":{v / 255:.9g}" for v in range(256)]
    index = [f" {k}" for k in range(1, 785)]
    lines = []
    for i, label in enumerate(labels):
        if only is not None and label != only:
            continue
        image = pixels[784 * i : 784 * (i + 1)]
        name = str(label) if only is None else "1"
        lines.append(name + "".join(index[k] + value[v] for k, v in enumerate(image) if v))
    return lines


Parts = tuple[list[str], list[str] | None]  # training lines, test lines


def _plain(train: str, test: str | None = None) -> Callable[[pathlib.Path], Parts]:
    return lambda source: (lines_of(source / train), lines_of(source / test) if test else None)


def _usps(source: pathlib.Path) -> Parts:
    train, test = (
        libsvm_lines(table(source / f"usps/zip.{part}.gz", None, 0)) for part in ("train", "test")
    )
    return train, test


def _spambase(source: pathlib.Path) -> Parts:
    rows = table(source / "spambase/spam.data.gz", None, -1)
    aside = [line == "1" for line in lines_of(source / "spambase/spam.traintest")]
    train, test = standardise(
        [row for row, out in zip(rows, aside, strict=True) if not out],
        [row for row, out in zip(rows, aside, strict=True) if out],
    )
    return libsvm_lines(train), libsvm_lines(test)


def _higgs(source: pathlib.Path) -> Parts:
    parts = [table(source / f"higgs_7500/binary.{part}.gz", "\t", 0) for part in ("train", "test")]
    train, test = standardise(*parts)
    return libsvm_lines(train), libsvm_lines(test)


def _covtype_5000(source: pathlib.Path) -> Parts:
    train, test = (
        libsvm_lines(table(source / f"covtype/covtype.5000.{part}.csv.gz", ",", 0))
        for part in ("train", "test")
    )
    return train, test


def scaled_by_train(train: Sequence[str], test: Sequence[str]) -> Parts:
    """Lines of LIBSVM text, each column to [-1, 1] by the training rows."""

    def rows_of(lines: Sequence[str]) -> list[Row]:
        rows = []
        for text in lines:
            label, *fields = text.split()
            values = dict(field.split(":") for field in fields)
            rows.append((label, [float(values.get(str(k + 1), 0)) for k in range(columns)]))
        return rows

    columns = max(int(text.rsplit(" ", 1)[1].split(":")[0]) for text in (*train, *test))
    moments = []
    for column in zip(*(values for _, values in rows_of(train))):
        low, high = min(column), max(column)
        moments.append(((low + high) / 2, 2 / (high - low) if high > low else 0.0))
    return (
        libsvm_lines(_mapped(rows_of(train), moments)),
        libsvm_lines(_mapped(rows_of(test), moments)),
    )


def _by_column(path: str, separator: str | None, label: int = -1, header: bool = False,
               scaled: Callable[[list[Row]], list[Row]] = lambda rows: standardise(rows, [])[0],
               ) -> Callable[[pathlib.Path], Parts]:  # fmt: skip
    """A table without a test part, each column with mean 0 and variance 1."""
    return lambda source: (
        libsvm_lines(scaled(table(source / path, separator, label, header))),
        None,
    )


def one_hot(labels_and_letters: Iterable[tuple[str, str]], alphabet: str) -> list[str]:
    """A column for each letter at each place."""
    lines = []
    for label, letters in labels_and_letters:
        places = ((k, alphabet.find(letter)) for k, letter in enumerate(letters.upper()))
        lines.append(label + "".join(f" {len(alphabet) * k + a + 1}:1" for k, a in places if a >= 0))
    return lines


def _splice(source: pathlib.Path) -> Parts:
    kinds = {"EI": "1", "IE": "2", "N": "3"}
    rows = [line.split(",") for line in lines_of(source / "splice_junctions/splice.data.gz")]
    return one_hot(((kinds[kind.strip()], text.strip()) for kind, _, text in rows), "ACGT"), None


def _acceptors(source: pathlib.Path) -> Parts:
    rows = [line.split(",") for line in
            lines_of(source / "c_elegans_acceptor/C_elegans_acc_seq.csv.gz")]  # fmt: skip
    return one_hot(((f"{float(row[0]):g}", row[1]) for row in rows), "ACGT"), None


def word_lines(train: Sequence[tuple[str, str]], test: Sequence[tuple[str, str]]) -> Parts:
    """Counts of words by tf-idf, (1 + log tf) log(N / df), rows of length 1."""
    counts = [collections.Counter(re.findall(r"[a-z0-9']+", text.lower())) for _, text in train]
    documents = collections.Counter(word for words in counts for word in words)
    column = {word: k for k, word in enumerate(sorted(documents), 1)}
    weight = {word: math.log(len(train) / df) for word, df in documents.items()}

    def line(label: str, words: collections.Counter[str]) -> str:
        values = {column[word]: (1 + math.log(tf)) * weight[word]
                  for word, tf in words.items() if word in column}  # fmt: skip
        length = math.sqrt(math.fsum(v * v for v in values.values())) or 1.0
        return label + "".join(f" {k}:{values[k] / length:.9g}" for k in sorted(values) if values[k])

    asked = [collections.Counter(re.findall(r"[a-z0-9']+", text.lower())) for _, text in test]
    return (
        [line(label, words) for (label, _), words in zip(train, counts)],
        [line(label, words) for (label, _), words in zip(test, asked)] if test else None,
    )


def _labelled_texts(path: pathlib.Path, numbers: dict[str, str]) -> list[tuple[str, str]]:
    rows = [line.partition("\t") for line in lines_of(path)]
    return [(numbers.setdefault(label, str(len(numbers) + 1)), text) for label, _, text in rows]


def _news(source: pathlib.Path) -> Parts:
    numbers: dict[str, str] = {}
    train, test = (
        _labelled_texts(source / f"reuters_r8/r8-{part}-all-terms.txt.gz", numbers)
        for part in ("train", "test")
    )
    return word_lines(train, test)


def _messages(source: pathlib.Path) -> Parts:
    return word_lines(_labelled_texts(source / "sms_spam/SMSSpamCollection.gz", {}), [])


def _reviews(source: pathlib.Path) -> Parts:
    texts = []
    with tarfile.open(source / "movie_review_polarity/review_polarity.tar.gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            kind = pathlib.PurePath(member.name).parent.name
            file = archive.extractfile(member) if kind in ("pos", "neg") else None
            if file is not None:
                texts.append(("1" if kind == "pos" else "-1", file.read().decode("latin-1")))
    return word_lines(texts, [])


def idx_lines(folder: pathlib.Path, images: str, labels: str, pixels: int) -> list[str]:
    """Pictures of bytes as numbers from 0 to 1."""
    values = gzip.decompress((folder / images).read_bytes())[16:]
    names = gzip.decompress((folder / labels).read_bytes())[8:]
    rows = ((str(name), [v / 255 for v in values[pixels * i : pixels * (i + 1)]])
            for i, name in enumerate(names))  # fmt: skip
    return libsvm_lines(rows)


def _faces(source: pathlib.Path) -> Parts:
    folder = source / "cbcl_faces"
    return idx_lines(folder, "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz", 361), None


def _people(source: pathlib.Path) -> Parts:
    return idx_lines(source / "olivetti_faces", "images-idx3-ubyte.gz", "labels-idx1-ubyte.gz",
                     4096), None  # fmt: skip


def _skin(source: pathlib.Path) -> Parts:
    import numpy

    with numpy.load(source / "skin/skin.npz") as arrays:
        rows = [(f"{float(y):g}", [v / 255 for v in x])
                for x, y in zip(arrays["X"].tolist(), arrays["y"].ravel().tolist())]  # fmt: skip
    return libsvm_lines(random.Random(SEED).sample(rows, 30_000)), None


def _housing(source: pathlib.Path) -> Parts:
    rows = standardise(table(source / "california_housing/cal_housing.csv.gz", ",", -1, True), [])[0]
    return libsvm_lines((f"{float(y) / 1e5:.9g}", values) for y, values in rows), None


def clouds(classes: int, columns: int, rows: int, seed: int) -> Callable[[pathlib.Path], Parts]:
    """Classes of three clouds each, which overlap: for what many classes of low dimension cost."""

    def made(_: pathlib.Path) -> Parts:
        draw = random.Random(seed)
        centres = [[[draw.uniform(-1, 1) for _ in range(columns)] for _ in range(3)]
                   for _ in range(classes)]  # fmt: skip
        spread = 0.55
        points = []
        for _ in range(rows):
            kind = draw.randrange(classes)
            centre = draw.choice(centres[kind])
            points.append((str(kind + 1), [c + draw.gauss(0, spread) for c in centre]))
        return libsvm_lines(points), None

    return made


SETS: dict[str, Callable[[pathlib.Path], Parts]] = {
    "a9a": _plain("a9a/a9a.gz", "a9a/a9a.t.gz"),
    "w8a": _plain("w8a/w8a.gz"),
    "ijcnn1": _plain("ijcnn1/ijcnn1.gz", "ijcnn1/ijcnn1.t.gz"),
    "usps": _usps,
    "mnist": lambda source: (
        mnist_lines(source / "mnist", "train"),
        mnist_lines(source / "mnist", "t10k"),
    ),
    "mnist.8": lambda source: (
        mnist_lines(source / "mnist", "train", only=8),
        mnist_lines(source / "mnist", "t10k", only=8),
    ),
    "reuters": _plain("reuters_lasvm/reuters.trn.gz", "reuters_lasvm/reuters.tst.gz"),
    "spambase": _spambase,
    "covtype.20k": lambda source: (
        libsvm_lines(unit_ranges(table(source / "covtype/covtype.20k.data.gz", ",", -1))),
        None,
    ),
    "covtype.5000": _covtype_5000,
    "higgs": _higgs,
    "cpusmall": _plain("cpusmall/cpusmall_scale.gz"),
    "dna": _plain("dna/dna.gz", "dna/dna.t.gz"),
    "svmguide1": lambda source: scaled_by_train(
        lines_of(source / "svmguide1/svmguide1"), lines_of(source / "svmguide1/svmguide1.t")
    ),
    "heart": _plain("heart/heart_scale"),
    "australian": _plain("australian/australian_scale"),
    "diabetes": _plain("pima_diabetes/diabetes_scale"),
    "breast-cancer": _plain("breast_cancer_wisconsin/breast-cancer_scale"),
    "ionosphere": _plain("ionosphere/ionosphere_scale"),
    "sonar": _plain("sonar/sonar_scale"),
    "abalone": _plain("abalone/abalone_scale"),
    "space_ga": _plain("space_ga/space_ga_scale.gz"),
    "housing": _plain("boston_housing/housing_scale"),
    "concrete": _by_column("concrete/concrete.csv", ",", header=True),
    "airfoil": _by_column("airfoil/airfoil_self_noise.dat", None),
    "california": _housing,
    "digits": _by_column("digits_8x8/digits.csv.gz", ",", scaled=unit_ranges),
    "splice": _splice,
    "acceptors": _acceptors,
    "news": _news,
    "messages": _messages,
    "reviews": _reviews,
    "faces": _faces,
    "people": _people,
    "skin": _skin,
    "clouds.26": clouds(26, 16, 15_000, 1),
    "clouds.10": clouds(10, 16, 7_500, 2),
    "clouds.6": clouds(6, 36, 4_400, 3),
}
