"""Rows that are pictures, and pictures."""

from __future__ import annotations

import numpy as np
import pytest

import mercer
from mercer import SVC, pictures


def test_rows_are_moved(tmp_path) -> None:
    rows = np.zeros((2, 12))
    rows[0, 5] = rows[1, 6] = 1.0  # row 1, columns 1 and 2 of a picture of 3 x 4
    moved = pictures.changed(rows, "shift(2)", shape=(3, 4))
    assert len(moved) == 4
    places = {int(table[0].argmax()) if table[0].max() > 0.5 else None for table in moved.values()}
    assert places == {7, None}  # two to the right; out of the picture the other ways
    X, y = pictures.virtual_examples(rows, ["a", "b"], "shift(1)", shape=(3, 4))
    assert X.shape == (18, 12) and y.tolist() == ["a", "b"] * 9
    np.testing.assert_array_equal(X[:2], rows)
    with pytest.raises(ValueError, match="wiggle"):
        pictures.changed(rows, "wiggle(1)", shape=(3, 4))


def test_known_changes_count_less_after_a_tangent_map() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 25))
    ways = "shift(1)"
    fitted = pictures.TangentMap(ways, lambda_=0.01).fit(X)
    moved, *_ = pictures.changed(X, ways).values()

    def ratio(A, B) -> float:
        return np.linalg.norm(A - B) / np.linalg.norm(A - A.mean(axis=0))

    assert ratio(fitted.transform(X), fitted.transform(moved)) < ratio(X, moved)
    same = pictures.TangentMap(ways, lambda_=1.0).fit_transform(X)
    np.testing.assert_allclose(same, X, atol=1e-10)


def scene(seed: int = 0) -> tuple[np.ndarray, tuple[int, int]]:
    """A dark picture with one bright cross."""
    rng = np.random.default_rng(seed)
    picture = rng.integers(0, 60, (40, 50)).astype(np.uint8)
    top, left = 12, 21
    picture[top + 3, left : left + 7] = picture[top : top + 7, left + 3] = 250
    return picture, (top, left)


def test_a_cross_is_found() -> None:
    rng = np.random.default_rng(1)
    cross = np.zeros((7, 7))
    cross[3], cross[:, 3] = 1, 1
    yes = cross + 0.2 * rng.normal(size=(40, 7, 7))
    no = rng.normal(size=(120, 7, 7))
    X = np.vstack([yes, no]).reshape(160, 49)
    (X,) = pictures.changed(X, "contrast").values()
    y = np.repeat([1, 0], [40, 120])
    machine = SVC(gamma=0.02, C=10).fit(X, y)
    picture, (top, left) = scene()
    found = pictures.detect(machine, picture, shape=(7, 7), keep=1, largest=1.0, scale=3.0)
    assert len(found.boxes) and tuple(found.boxes[0, :4]) == (top, left, 7, 7)
    assert found.patches > 1000 >= found.accepted
    with pytest.raises(ValueError, match="keep"):
        pictures.detect(machine, picture, shape=(7, 7), keep="cross")


def test_noise_is_taken_out() -> None:
    rng = np.random.default_rng(0)
    stripes = np.add.outer(np.arange(40), np.arange(40)) // 5 % 2
    clean = np.where(stripes, 200, 50).astype(np.uint8)
    noisy = np.clip(clean + rng.normal(scale=25, size=clean.shape), 0, 255).astype(np.uint8)
    better = pictures.denoise(noisy, n_components=6, patch=8, sample=400)
    assert pictures.psnr(better, clean) > pictures.psnr(noisy, clean) + 2
    assert pictures.psnr(clean, clean) == np.inf and pictures.ssim(clean, clean) == pytest.approx(1)


def test_pictures_grow_and_come_back_from_files(tmp_path) -> None:
    rng = np.random.default_rng(0)
    large = np.kron(rng.integers(0, 255, (16, 16)), np.ones((4, 4))).astype(np.uint8)
    small = pictures.shrink(large, 2)
    learnt = pictures.SuperResolution(2, n_components=12, sample=600, dictionary_size=80).fit(
        [large]
    )
    grown = learnt.enlarge(small)
    assert grown.shape == large.shape
    assert pictures.psnr(grown, large) > pictures.psnr(pictures.stretch(small, 2), large)
    learnt.save(tmp_path / "learnt.mercer")
    np.testing.assert_array_equal(
        pictures.SuperResolution.load(tmp_path / "learnt.mercer").enlarge(small), grown
    )
    colour = np.stack([large, 255 - large, large], axis=2)
    pictures.write(colour, tmp_path / "a.png")
    np.testing.assert_array_equal(pictures.read(tmp_path / "a.png"), colour)
    with pytest.raises(TypeError, match="uint8"):
        pictures.write(large / 255, tmp_path / "b.png")


def test_codes_are_as_near_as_promised(tmp_path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    book = mercer.KernelVQ(radius=0.8).fit(X)
    book.write_codes(X, tmp_path / "rows.vq")
    assert np.linalg.norm(mercer.read_codes(tmp_path / "rows.vq") - X, axis=1).max() <= 0.8 + 1e-6
