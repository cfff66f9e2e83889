"""Conditions on gaps, written as text: ``abs(gap.lean@10) > 0.05 and p_holm.lean@10 < 0.05``.

The grammar, in full::

    condition  = clause { "or" clause }
    clause     = test { "and" test }
    test       = value ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) value | "(" condition ")"
    value      = number | quantity | "abs(" quantity ")"
               | "upper(" gap ")" | "lower(" gap ")"
    quantity   = ("gap" | "low" | "high" | "p" | "p_holm") "." METRIC [ "@" K ] [ "[" FILTER "]" ]

``gap`` is the estimate, ``low`` and ``high`` the ends of its interval (``lower(gap.M)`` and
``upper(gap.M)`` are other words for them). Without a filter all queries count. ``and`` binds
more tightly than ``or``. Nothing is ever evaluated as code.

A quantity may be missing: too few pairs, or a ranking that is not deep enough. What then
cannot be decided counts as met, because a gate that a missing number opens is no gate.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from biasret.errors import InputError, UnknownName
from biasret.filters import filter_named
from biasret.metrics import METRICS

__all__ = ["QUANTITIES", "Condition", "Quantity", "Verdict", "parse"]

#: Column of a ``gaps`` table that each word stands for.
QUANTITIES = {
    "gap": "estimate",
    "low": "ci_low",
    "high": "ci_high",
    "p": "p_value",
    "p_holm": "p_holm",
}

_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_ENDS = {"upper": "high", "lower": "low"}

_LONGEST = 2_000
_DEEPEST = 40

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<quantity>[A-Za-z_]\w*\.[A-Za-z_]\w*(?:@\d+)?(?:\[[^\]]*\])?)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<mark><=|>=|==|!=|<|>|\(|\))
    )""",
    re.VERBOSE,
)
_QUANTITY = re.compile(r"(\w+)\.(\w+)(?:@(\d+))?(?:\[([^\]]*)\])?")


@dataclass(frozen=True)
class Quantity:
    """One number of a gap: which, of which metric, at which depth, under which filter."""

    of: str
    metric: str
    k: int | None
    filter: str = "raw"

    def __str__(self) -> str:
        depth = "" if self.k is None else f"@{self.k}"
        rule = "" if self.filter == "raw" else f"[{self.filter}]"
        return f"{self.of}.{self.metric}{depth}{rule}"

    def read(self, gaps: pd.DataFrame) -> float | None:
        """Its value in the ``gaps`` rows of one retriever and contrast; None if missing."""
        at = (gaps["metric"] == self.metric) & (gaps["filter"] == self.filter)
        at &= gaps["k"].isna() if self.k is None else (gaps["k"] == self.k).fillna(False)
        values = gaps.loc[at.astype(bool), QUANTITIES[self.of]].dropna()
        return float(values.iloc[0]) if len(values) else None


@dataclass(frozen=True)
class _Value:
    """A number, or a quantity, maybe without its sign."""

    number: float = 0.0
    quantity: Quantity | None = None
    is_absolute: bool = False

    def read(self, values: Mapping[Quantity, float | None]) -> float | None:
        if self.quantity is None:
            return self.number
        value = values[self.quantity]
        return abs(value) if value is not None and self.is_absolute else value

    def quantities(self) -> Iterator[Quantity]:
        if self.quantity is not None:
            yield self.quantity


@dataclass(frozen=True)
class _Test:
    left: _Value
    sign: str
    right: _Value

    def holds(self, values: Mapping[Quantity, float | None]) -> bool | None:
        left, right = self.left.read(values), self.right.read(values)
        if left is None or right is None:
            return None
        return _COMPARISONS[self.sign](left, right)

    def quantities(self) -> Iterator[Quantity]:
        yield from self.left.quantities()
        yield from self.right.quantities()


@dataclass(frozen=True)
class _Joined:
    """Parts joined by ``and`` or by ``or``, in logic of three values."""

    parts: tuple[_Test | _Joined, ...]
    is_any: bool

    def holds(self, values: Mapping[Quantity, float | None]) -> bool | None:
        found = [part.holds(values) for part in self.parts]
        if self.is_any in found:
            return self.is_any
        return None if None in found else not self.is_any

    def quantities(self) -> Iterator[Quantity]:
        for part in self.parts:
            yield from part.quantities()


@dataclass(frozen=True)
class Verdict:
    """Whether a condition is met, and by what.

    Attributes
    ----------
    holds
        None: it cannot be decided, because numbers are missing.
    values
        Every quantity in it, in order; None where missing.
    """

    holds: bool | None
    values: dict[Quantity, float | None]

    @property
    def is_met(self) -> bool:
        """Whether it is met or cannot be decided."""
        return self.holds is not False

    @property
    def missing(self) -> list[Quantity]:
        """Quantities without a value."""
        return [quantity for quantity, value in self.values.items() if value is None]


@dataclass(frozen=True)
class Condition:
    """A condition that was read."""

    text: str
    root: _Test | _Joined

    @property
    def quantities(self) -> list[Quantity]:
        """Every quantity in it, once, in order."""
        return list(dict.fromkeys(self.root.quantities()))

    def judge(self, gaps: pd.DataFrame) -> Verdict:
        """Whether the gaps of one retriever meet it.

        Parameters
        ----------
        gaps
            ``gaps`` rows of one dataset, retriever and pair of groups.
        """
        values = {quantity: quantity.read(gaps) for quantity in self.quantities}
        return Verdict(self.root.holds(values), values)


def parse(text: str) -> Condition:
    """Read a condition.

    Raises
    ------
    InputError
        It is not of the grammar; the message shows where it stops making sense.
    UnknownName
        A metric, filter or quantity does not exist.
    """
    if len(text) > _LONGEST:
        raise InputError(f"A condition has at most {_LONGEST:,} characters; found {len(text):,}.")
    reader = _Reader(text)
    root = reader.condition()
    if reader.peek() != "":
        raise reader.fault("'and', 'or' or the end")
    if not list(root.quantities()):
        raise InputError(
            f"The condition {text!r} compares numbers alone; name a quantity, such as gap.lean@10."
        )
    return Condition(text, root)


class _Reader:
    """Reads a condition from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[tuple[str, str, int]] = []
        at = 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if match is None:
                start = at + len(text[at:]) - len(text[at:].lstrip())
                raise InputError(
                    f"The condition {text!r} cannot be read from {text[start : start + 20]!r} on; "
                    "an example is: abs(gap.lean@10) > 0.05"
                )
            kind = str(match.lastgroup)
            self._tokens.append((kind, match.group(kind), match.start(kind)))
            at = match.end()
        self._next = 0
        self._depth = 0

    def peek(self) -> str:
        return self._tokens[self._next][1] if self._next < len(self._tokens) else ""

    def _take(self) -> tuple[str, str]:
        if self._next == len(self._tokens):
            return "end", ""
        kind, word, _ = self._tokens[self._next]
        self._next += 1
        return kind, word

    def fault(self, wanted: str) -> InputError:
        if self._next < len(self._tokens):
            found = (
                f"{self._tokens[self._next][1]!r} at character {self._tokens[self._next][2] + 1}"
            )
        else:
            found = "its end"
        return InputError(
            f"The condition {self._text!r} needs {wanted} where it has {found}; an example is: "
            "abs(gap.lean@10) > 0.05"
        )

    def condition(self) -> _Test | _Joined:
        return self._joined("or", self._clause)

    def _clause(self) -> _Test | _Joined:
        return self._joined("and", self._test)

    def _joined(self, word: str, part: Callable[[], _Test | _Joined]) -> _Test | _Joined:
        parts = [part()]
        while self.peek() == word:
            self._take()
            parts.append(part())
        return parts[0] if len(parts) == 1 else _Joined(tuple(parts), is_any=word == "or")

    def _test(self) -> _Test | _Joined:
        if self.peek() == "(":
            self._depth += 1
            if self._depth > _DEEPEST:
                raise InputError(f"A condition nests at most {_DEEPEST} brackets.")
            self._take()
            inner = self.condition()
            self._close()
            self._depth -= 1
            return inner
        left = self._value()
        if self.peek() not in _COMPARISONS:
            raise self.fault(f"one of {', '.join(_COMPARISONS)}")
        _, sign = self._take()
        return _Test(left, sign, self._value())

    def _close(self) -> None:
        if self.peek() != ")":
            raise self.fault("')'")
        self._take()

    def _value(self) -> _Value:
        start = self._next
        kind, word = self._take()
        if kind == "number":
            return _Value(number=float(word))
        if kind == "quantity":
            return _Value(quantity=self._quantity(word))
        if kind == "word" and (word == "abs" or word in _ENDS):
            if self.peek() != "(":
                raise self.fault("'('")
            self._take()
            inner, of = self._take()
            if inner != "quantity" or (word in _ENDS and not of.startswith("gap.")):
                self._next -= inner != "end"
                raise self.fault(
                    "a quantity, such as gap.lean@10,"
                    if word == "abs"
                    else "a gap, as gap.lean@10,"
                )
            self._close()
            if word == "abs":
                return _Value(quantity=self._quantity(of), is_absolute=True)
            return _Value(quantity=self._quantity(_ENDS[word] + of.removeprefix("gap")))
        self._next = start
        raise self.fault("a number or a quantity, such as gap.lean@10,")

    def _quantity(self, word: str) -> Quantity:
        match = _QUANTITY.fullmatch(word)
        assert match is not None
        of, name, depth, rule = match.groups()
        if of not in QUANTITIES:
            raise UnknownName("quantity", of, QUANTITIES)
        metric = METRICS[name]
        k = None if depth is None else int(depth)
        if k not in metric.ks:
            ks = ", ".join(metric.name if one is None else f"{name}@{one}" for one in metric.ks)
            raise InputError(f"The condition asks for {word!r}; measured are {ks}.")
        rule = "raw" if rule is None else rule
        filter_named(rule)
        return Quantity(of, name, k, rule)
