"""How kernels, reports and machines look in a notebook. Plain HTML, nothing is fetched."""

from __future__ import annotations

from html import escape
from typing import Any

#: What of a report is shown, in this order, where it says something.
FIGURES = ("primal", "dual", "relative_gap", "kkt_violation", "margin", "rho", "epsilon", "radius")
COUNTS = (
    "rows",
    "free_support_vectors",
    "bounded_support_vectors",
    "iterations",
    "kernel_evaluations",
)

_GOOD, _DOUBTFUL, _BAD = "#1a7f37", "#9a6700", "#cf222e"


def _colour(kind: str) -> str:
    if kind.startswith("not known"):
        return _DOUBTFUL
    if kind.startswith("not") or "indefinite" in kind:
        return _BAD
    return _GOOD if "positive definite" in kind and "conditionally" not in kind else _DOUBTFUL


def _badge(kind: str) -> str:
    return f'<span style="color:{_colour(kind)}">{escape(kind)}</span>'


def kernel_html(kernel: Any) -> str:
    """The text of a kernel, and the tree of its parts with the rule that each is definite by."""
    found = kernel.definiteness
    head = f"<code>{escape(str(kernel))}</code> is {_badge(str(found))}"
    if len(found.reasons) < 2:
        because = "".join(f": {escape(reason.because)}" for reason in found.reasons)
        return f"<div>{head}{because}</div>"
    items, depth = [], -1
    for reason in found.reasons:
        items.append("<ul>" * max(0, reason.depth - depth) + "</ul>" * max(0, depth - reason.depth))
        depth = reason.depth
        items.append(
            f"<li><code>{escape(reason.part)}</code> {_badge(reason.kind)}"
            f" <small>{escape(reason.because)}</small></li>"
        )
    items.append("</ul>" * (depth + 1))
    return f"<details open><summary>{head}</summary>{''.join(items)}</details>"


def _row(name: str, value: str) -> str:
    shown = name.replace("_", " ")
    return (
        f'<tr><td style="text-align:left">{shown}</td><td style="text-align:left">{value}</td></tr>'
    )


def report_html(report: Any) -> str:
    """The certificate as a table."""
    good = report["converged"]
    status = f'<span style="color:{_GOOD if good else _BAD}">{escape(str(report["status"]))}</span>'
    rows = [_row("status", status), _row("certifies", escape(str(report["certifies"])))]
    for name in FIGURES:
        value = report.get(name, 0)
        if value != 0:
            rows.append(_row(name, f"{value:.6g}"))
    for name in COUNTS:
        if report.get(name, 0):
            rows.append(_row(name, f"{report[name]:,}"))
    rows += [
        _row(escape(name), f"{value:.6g}") for name, value in report.get("figures", {}).items()
    ]
    rows.append(_row("seconds", f"{report.get('seconds', 0):.3g}"))
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def machine_html(machine: Any, plain: str) -> str:
    """A fitted machine: how it was made, its kernel as it was settled, and its certificate."""
    parts = [plain or f"<code>{escape(repr(machine))}</code>"]
    kernel = getattr(machine, "kernel_", None)
    if hasattr(kernel, "definiteness"):
        parts.append(kernel_html(kernel))
    if "report_" in vars(machine):
        parts.append(report_html(machine.report_))
    return f"<div>{''.join(parts)}</div>"
