"""Small drawings as markup: elements, scales with round ticks, axes. Colours come from the page's style sheet, by class."""

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

MAX_TICKS = 6


def tag(name: str, *children: str, **attributes: object) -> str:
    """An element; children are markup already, attributes are escaped, and ``class_`` and ``text_anchor`` lose their underscore.

    >>> tag("text", words("a < b"), x=1.25, text_anchor="end")
    '<text x="1.25" text-anchor="end">a &lt; b</text>'
    """
    pairs = "".join(f' {_attribute(key)}="{escape(_plain(value))}"' for key, value in attributes.items() if value is not None)
    return f"<{name}{pairs}>{''.join(children)}</{name}>"


def words(text: object) -> str:
    """Any text as markup that shows it."""
    return escape(str(text))


def points(pairs: list[tuple[float, float]]) -> str:
    """Coordinates for a polyline or polygon."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in pairs)


@dataclass(frozen=True)
class Scale:
    """From values to places on the page, evenly or by orders of magnitude."""

    low: float
    high: float
    start: float  # the place of low
    end: float  # the place of high
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (log10(number) if self.logarithmic else number for number in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def ticks(self) -> list[float]:
        """Few round values within the scale."""
        return _powers(self.low, self.high) if self.logarithmic else _rounds(self.low, self.high)


def linear_scale(values: list[float], start: float, end: float, margin: float = 0.06) -> Scale:
    """A scale that holds all values with some air around them."""
    low, high = min(values), max(values)
    air = margin * (high - low) or 1.0
    return Scale(low - air, high + air, start, end)


def log_scale(values: list[float], start: float, end: float) -> Scale:
    """A scale of orders of magnitude that holds all values, which must be positive."""
    return Scale(min(values) / 1.6, max(values) * 1.6, start, end, logarithmic=True)


def x_axis(scale: Scale, top: float, bottom: float, name: str, unit: str = "") -> str:
    """Grid lines, tick labels and the name of a horizontal axis."""
    parts = []
    for value in scale.ticks():
        x = scale(value)
        parts.append(tag("line", class_="grid", x1=x, x2=x, y1=top, y2=bottom))
        parts.append(tag("text", words(short(value) + unit), class_="tick", x=x, y=bottom + 13, text_anchor="middle"))
    middle = (scale.start + scale.end) / 2
    return "".join(parts) + tag("text", words(name), class_="axis", x=middle, y=bottom + 28, text_anchor="middle")


def x_axis_above(scale: Scale, top: float, bottom: float, name: str) -> str:
    """The same above what it measures, for rows that may become fewer."""
    parts = []
    for value in scale.ticks():
        x = scale(value)
        parts.append(tag("line", class_="grid", x1=x, x2=x, y1=top - 4, y2=bottom))
        parts.append(tag("text", words(short(value)), class_="tick", x=x, y=top - 8, text_anchor="middle"))
    middle = (scale.start + scale.end) / 2
    return "".join(parts) + tag("text", words(name), class_="axis", x=middle, y=top - 23, text_anchor="middle")


def y_axis(scale: Scale, left: float, right: float, name: str = "") -> str:
    """Grid lines and tick labels of a vertical axis, its name above them."""
    parts = []
    for value in scale.ticks():
        y = scale(value)
        parts.append(tag("line", class_="grid", x1=left, x2=right, y1=y, y2=y))
        parts.append(tag("text", words(short(value)), class_="tick", x=left - 6, y=y + 3, text_anchor="end"))
    return "".join(parts) + (tag("text", words(name), class_="axis", x=4, y=11) if name else "")


def short(value: float) -> str:
    """A number in as few characters as it needs, seconds and percent alike."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _rounds(low: float, high: float) -> list[float]:
    rough = (high - low) / MAX_TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [round(step * number, 10) for number in range(ceil(low / step), floor(high / step) + 1)]


def _powers(low: float, high: float) -> list[float]:
    every = ceil((log10(high) - log10(low)) / MAX_TICKS)
    powers = [10.0**exponent for exponent in range(ceil(log10(low)), floor(log10(high)) + 1, every)]
    return powers if len(powers) > 1 else [value for value in _rounds(low, high) if value > 0]


def _plain(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _attribute(key: str) -> str:
    return key if key == "viewBox" else key.rstrip("_").replace("_", "-")
