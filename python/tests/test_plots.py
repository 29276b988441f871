"""Pictures: they are drawn, and show what they say."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import mercer  # noqa: E402
from mercer import gallery, plot  # noqa: E402


def test_gallery_draws_every_picture(tmp_path) -> None:
    paths = gallery.draw(tmp_path)
    assert len(paths) == len(gallery.PICTURES) >= 12
    assert all(path.stat().st_size > 4000 for path in paths)
    assert (tmp_path / "README.md").read_text().count("![") == len(paths)
    assert gallery.main([]) == 2


def test_regions_need_two_columns(moons) -> None:
    X, y = moons
    wide = np.c_[X, X]
    with pytest.raises(ValueError, match="two columns"):
        plot.decision_regions(mercer.SVC().fit(wide, y), wide, y)


def test_tube_shows_the_width_found() -> None:
    X = np.linspace(0, 6, 60)[:, None]
    model = mercer.NuSVR(nu=0.3).fit(X, np.sin(X[:, 0]) + 0.1 * np.cos(40 * X[:, 0]))
    labels = plot.tube(model, X, np.sin(X[:, 0])).get_legend().get_texts()
    assert f"{model.report_.epsilon:.3g}" in labels[0].get_text()


def test_search_map() -> None:
    search = pytest.importorskip("sklearn.model_selection").GridSearchCV(
        mercer.SVC(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0, 10.0]}, cv=2
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    search.fit(X, X[:, 0] > 0)
    image = plot.search_map(search, "C", "gamma").get_images()[0].get_array()
    assert image.shape == (3, 2) and np.isfinite(image).all()
