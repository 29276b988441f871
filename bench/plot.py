"""A log-log plot as SVG, by hand: lines with marks, decades as grid, names at the lines' ends."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 30, 50
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e5ea2", "#b8860b", "#555555")


def decades(values: Sequence[float]) -> tuple[int, int]:
    """The whole powers of ten around the values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def log_log(lines: Mapping[str, Points], x_name: str, y_name: str) -> str:
    """Empty when there is nothing to draw."""
    drawn = {name: points for name, points in lines.items() if points}
    if not drawn:
        return ""
    xs = decades([x for points in drawn.values() for x, _ in points])
    ys = decades([y for points in drawn.values() for _, y in points])

    def x_of(value: float) -> float:
        return LEFT + (math.log10(value) - xs[0]) / (xs[1] - xs[0]) * (WIDTH - LEFT - RIGHT)

    def y_of(value: float) -> float:
        return (
            HEIGHT
            - BOTTOM
            - (math.log10(value) - ys[0]) / (ys[1] - ys[0]) * (HEIGHT - TOP - BOTTOM)
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for k in range(xs[0], xs[1] + 1):
        x = x_of(10.0**k)
        parts.append(_line(x, TOP, x, HEIGHT - BOTTOM))
        parts.append(_text(x, HEIGHT - BOTTOM + 18, f"{10**k:,}".replace(",", " "), "middle"))
    for k in range(ys[0], ys[1] + 1):
        y = y_of(10.0**k)
        parts.append(_line(LEFT, y, WIDTH - RIGHT, y))
        parts.append(_text(LEFT - 8, y + 4, f"{10.0**k:g}", "end"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_name, "middle"))
    parts.append(_text(LEFT, TOP - 12, y_name, "middle"))
    for (name, points), y in zip(drawn.items(), _label_heights(drawn, y_of)):
        colour = COLOURS[list(drawn).index(name) % len(COLOURS)]
        placed = [(x_of(a), y_of(b)) for a, b in points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in placed)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.extend(
            f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in placed
        )
        parts.append(_text(WIDTH - RIGHT + 12, y, name, "start", colour))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _label_heights(lines: Mapping[str, Points], y_of: Callable[[float], float]) -> list[float]:
    """Beside the ends of the lines, moved apart where they would touch."""
    order = sorted(lines, key=lambda name: y_of(lines[name][-1][1]))
    heights: dict[str, float] = {}
    last = -math.inf
    for name in order:
        last = max(y_of(lines[name][-1][1]) + 4, last + 15)
        heights[name] = last
    return [heights[name] for name in lines]


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#dddddd"/>'


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#333333") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">'
        f"{html.escape(text)}</text>"
    )
