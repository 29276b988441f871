"""Pictures of the results as SVG: axes with ticks and labels, points, lines, bands, contours, legends."""

from __future__ import annotations

import math
import pathlib
from html import escape

INK = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e5ea2", "#d08a1d")
GREY = "#666"
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 28, 40

Point = tuple[float, float]


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between the two, some `about` of them."""
    step = 10 ** math.floor(math.log10((high - low) / about))
    step *= min((1, 2, 5, 10), key=lambda m: abs((high - low) / (m * step) - about))
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def joined(segments: list[list[Point]]) -> list[list[Point]]:
    """Pieces of lines put together where they meet."""
    ends: dict[Point, list[int]] = {}
    for k, segment in enumerate(segments):
        for end in segment:
            ends.setdefault(end, []).append(k)
    used, chains = set(), []
    for k, segment in enumerate(segments):
        if k in used:
            continue
        used.add(k)
        chain = list(segment)
        for _ in range(2):  # on from the one end, then from the other
            while True:
                further = [n for n in ends[chain[-1]] if n not in used]
                if not further:
                    break
                used.add(further[0])
                a, b = segments[further[0]]
                chain.append(b if a == chain[-1] else a)
            chain.reverse()
        chains.append(chain)
    return chains


class Plot:
    """One picture with two axes. `x_names` puts words in the place of numbers under the x axis."""

    def __init__(self, x: Point, y: Point, title: str = "", x_label: str = "", y_label: str = "",
                 wide: int = 360, high: int = 260, x_names: list[str] | None = None) -> None:  # fmt: skip
        self.x, self.y, self.title = x, y, title
        self.x_label, self.y_label, self.x_names = x_label, y_label, x_names
        self.wide, self.high = wide, high
        self.parts: list[str] = []
        self.names: list[tuple[str, str, str]] = []

    def at(self, x: float, y: float) -> Point:
        across = LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (self.wide - LEFT - RIGHT)
        down = self.high - BOTTOM
        down -= (y - self.y[0]) / (self.y[1] - self.y[0]) * (self.high - TOP - BOTTOM)
        return across, down

    def name(self, text: str, colour: str, shape: str) -> None:
        if text:
            self.names.append((text, colour, shape))

    def points(self, places: list[Point], colour: str = INK[0], radius: float = 2.2,
               name: str = "", ring: bool = False) -> None:  # fmt: skip
        spots = [self.at(*place) for place in places]
        if ring:
            self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="none" stroke="{colour}"/>'
                           for x, y in spots]  # fmt: skip
        else:  # strokes of no length with round ends
            path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in spots)
            self.parts.append(f'<path d="{path}" stroke="{colour}" stroke-width="{2 * radius}" '
                              'stroke-linecap="round"/>')  # fmt: skip
        self.name(name, colour, "ring" if ring else "dot")

    def line(self, places: list[Point], colour: str = INK[0], name: str = "", width: float = 1.8,
             dashed: bool = False) -> None:  # fmt: skip
        path = " ".join("{:.1f},{:.1f}".format(*self.at(*place)) for place in places)
        dash = ' stroke-dasharray="5,3"' if dashed else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                          f'stroke-width="{width}"{dash}/>')  # fmt: skip
        self.name(name, colour, "dash" if dashed else "line")

    def band(self, lower: list[Point], upper: list[Point], colour: str, name: str = "") -> None:
        path = " ".join("{:.1f},{:.1f}".format(*self.at(*p)) for p in lower + upper[::-1])
        self.parts.append(f'<polygon points="{path}" fill="{colour}" opacity="0.18"/>')
        self.name(name, colour, "area")

    def circle(self, centre: Point, radius: float, colour: str) -> None:
        """A circle of the data's own unit; both axes must have the same scale."""
        across, down = self.at(*centre)
        reach = self.at(centre[0] + radius, centre[1])[0] - across
        self.parts.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="{reach:.1f}" fill="none" '
                          f'stroke="{colour}" stroke-width="0.8"/>')  # fmt: skip

    def contour(self, values: list[list[float]], level: float, colour: str, width: float = 1.2,
                name: str = "") -> None:  # fmt: skip
        """Where a function given on an even grid over the axes (rows from below) has this value."""
        rows, columns = len(values), len(values[0])
        segments = []
        for i in range(rows - 1):
            for j in range(columns - 1):
                corners = ((i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j))
                cuts = []
                for (a, b), (c, d) in zip(corners, corners[1:] + corners[:1]):
                    u, v = values[a][b] - level, values[c][d] - level
                    if (u < 0) != (v < 0):
                        t = u / (u - v)
                        cuts.append((b + t * (d - b), a + t * (c - a)))
                segments += [cuts[k : k + 2] for k in range(0, len(cuts) - 1, 2)]
        path = []
        for chain in joined(segments):
            places = [self.at(self.x[0] + p / (columns - 1) * (self.x[1] - self.x[0]),
                              self.y[0] + q / (rows - 1) * (self.y[1] - self.y[0])) for p, q in chain]  # fmt: skip
            path.append("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places))
        if path:
            self.parts.append(f'<path d="{"".join(path)}" fill="none" stroke="{colour}" '
                              f'stroke-width="{width}"/>')  # fmt: skip
        self.name(name, colour, "line")

    def grid(self, side: int) -> list[Point]:
        """The places that `contour` wants the values of, row after row."""
        (a, b), (c, d) = self.x, self.y
        return [(a + j / (side - 1) * (b - a), c + i / (side - 1) * (d - c))
                for i in range(side) for j in range(side)]  # fmt: skip

    def axes(self) -> list[str]:
        left, bottom = LEFT, self.high - BOTTOM
        parts = [f'<rect x="{left}" y="{TOP}" width="{self.wide - LEFT - RIGHT}" '
                 f'height="{bottom - TOP}" fill="none" stroke="{GREY}" stroke-width="0.8"/>']  # fmt: skip
        marks = [(float(k), n) for k, n in enumerate(self.x_names or [])]
        for value, word in marks or [(v, f"{v:g}") for v in ticks(*self.x)]:
            across = self.at(value, self.y[0])[0]
            parts.append(f'<path d="M{across:.1f} {bottom}v4" stroke="{GREY}"/>'
                         f'<text x="{across:.1f}" y="{bottom + 15}" text-anchor="middle">{escape(word)}</text>')  # fmt: skip
        for value in ticks(*self.y):
            down = self.at(self.x[0], value)[1]
            parts.append(f'<path d="M{left} {down:.1f}h-4" stroke="{GREY}"/>'
                         f'<text x="{left - 7}" y="{down + 4:.1f}" text-anchor="end">{value:g}</text>')  # fmt: skip
        middle = (left + self.wide - RIGHT) / 2
        parts.append(f'<text x="{middle}" y="{self.high - 8}" text-anchor="middle">{escape(self.x_label)}</text>'
                     f'<text x="{middle}" y="17" text-anchor="middle" font-weight="bold">{escape(self.title)}</text>'
                     f'<text transform="translate(13 {(TOP + bottom) / 2}) rotate(-90)" '
                     f'text-anchor="middle">{escape(self.y_label)}</text>')  # fmt: skip
        return parts

    def legend(self) -> list[str]:
        if not self.names:
            return []
        wide = 30 + 6 * max(len(text) for text, _, _ in self.names)
        parts = [f'<rect x="{LEFT + 3}" y="{TOP + 2}" width="{wide}" height="{14 * len(self.names) + 3}" '
                 'fill="white" opacity="0.75"/>']  # fmt: skip
        for k, (text, colour, shape) in enumerate(self.names):
            x, y = LEFT + 8, TOP + 12 + 14 * k
            mark = {
                "dot": f'<circle cx="{x + 8}" cy="{y - 4}" r="2.5" fill="{colour}"/>',
                "ring": f'<circle cx="{x + 8}" cy="{y - 4}" r="3.5" fill="none" stroke="{colour}"/>',
                "area": f'<rect x="{x}" y="{y - 9}" width="16" height="9" fill="{colour}" opacity="0.25"/>',
                "dash": f'<path d="M{x} {y - 4}h16" stroke="{colour}" stroke-width="2" stroke-dasharray="5,3"/>',
                "line": f'<path d="M{x} {y - 4}h16" stroke="{colour}" stroke-width="2"/>',
            }[shape]  # fmt: skip
            parts.append(f'{mark}<text x="{x + 21}" y="{y}">{escape(text)}</text>')
        return parts

    def body(self, number: int) -> str:
        clip = f"inside{number}"
        box = (f'<clipPath id="{clip}"><rect x="{LEFT}" y="{TOP}" width="{self.wide - LEFT - RIGHT}" '
               f'height="{self.high - TOP - BOTTOM}"/></clipPath>')  # fmt: skip
        drawn = "\n".join(self.parts)
        return (box + f'<g clip-path="url(#{clip})">\n{drawn}\n</g>\n' + "\n".join(self.axes()) + "\n"
                + "\n".join(self.legend()))  # fmt: skip


def write_svg(path: pathlib.Path, plots: list[Plot], columns: int = 2) -> str:
    """The plots side by side in one file; gives its name."""
    columns = min(columns, len(plots))
    wide, high = max(p.wide for p in plots), max(p.high for p in plots)
    rows = -(-len(plots) // columns)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * wide} {rows * high}" '
             f'width="{columns * wide}" height="{rows * high}" font-family="sans-serif" font-size="11">',
             f'<rect width="{columns * wide}" height="{rows * high}" fill="white"/>']  # fmt: skip
    for k, plot in enumerate(plots):
        parts.append(f'<g transform="translate({k % columns * wide} {k // columns * high})">'
                     f"{plot.body(k)}</g>")  # fmt: skip
    path.write_text("\n".join(parts) + "\n</svg>\n", encoding="utf-8")
    return path.name
