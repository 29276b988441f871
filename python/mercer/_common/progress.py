"""What long work says, shown by tqdm where that is installed."""

from __future__ import annotations

import sys
from typing import Any, Callable

Callback = Callable[[dict[str, Any]], Any]


class ProgressBar:
    """A callback that draws one line, in a terminal or a notebook.

    Examples
    --------
    >>> from mercer import SVC
    >>> SVC(callback=ProgressBar())                       # doctest: +SKIP
    """

    def __init__(self, stream: Any = None) -> None:
        self._bar: Any = None
        self._stream = stream

    def __call__(self, moment: dict[str, Any]) -> None:
        """Shows one moment."""
        if self._bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                self._bar = False
            else:
                self._bar = tqdm(file=self._stream, unit=" steps", leave=False)
        text = _line(moment)
        if self._bar is False:
            print(f"\r{text:<78}", end="", file=self._stream or sys.stderr)
        else:
            self._bar.set_description_str(text)
            self._bar.n = int(moment.get("steps", 0))
            self._bar.refresh()

    def close(self) -> None:
        """Ends the line."""
        if self._bar is False:
            print(file=self._stream or sys.stderr)
        elif self._bar is not None:
            self._bar.close()
        self._bar = None


def _line(moment: dict[str, Any]) -> str:
    words = [moment["task"]]
    if moment["detail"]:
        words.append(moment["detail"])
    if "violation" in moment and moment["violation"] == moment["violation"]:  # not nan
        words.append(
            f"violation {moment['violation']:.2e}, {int(moment['support'])} support vectors"
        )
    elif moment.get("fraction", -1) >= 0:
        words.append(f"{100 * moment['fraction']:.0f} %")
    return " · ".join(words)
