"""How much a text resembles AAL writing: features found, and a share of its words.

Neither says who wrote it. The first counts grammar that the normaliser recognises; the
second is the inference of Blodgett, Green and O'Connor (2016) on their count table of
tweets of the early 2010s, which reacts to texting spellings as much as to dialect.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from biasret.errors import FileError, InputError
from biasret.signals.dialect.records import Edit, Rewrite, checked_text
from biasret.signals.dialect.tokens import straight, tokenise
from biasret.signals.dialect.wme import to_wme

__all__ = [
    "COMPONENTS",
    "LIMITS",
    "CountTable",
    "DialectScore",
    "FoundFeature",
    "WordShare",
    "posterior",
    "posteriors",
    "score",
]

#: Order of the components in the count table.
COMPONENTS = ("african_american", "hispanic", "asian", "white")
#: What any display of a score has to say.
LIMITS = (
    "It rates a text, not a person: nobody's identity can be read from it.",
    "The share compares words with tweets of the early 2010s from certain places; texting "
    "style raises it, and grammar without a marked word hardly moves it.",
    "Medical words are mostly missing from the table, and rare words lean to the smallest "
    "component.",
    "The feature count knows only the features of the table of this engine; a text without "
    "them may still be AAL.",
)
_PASSES = 4
_RARE = 30
#: Share of a text's tokens that must be in the table.
_LEAST_KNOWN = 0.2
#: Texts whose shares are inferred together.
_TEXTS = 2_048
_TOKEN = re.compile(r"https?://\S+|[^\W_]+(?:'[^\W_]+)*|[^\w\s]+|_+")


@dataclass(frozen=True)
class FoundFeature:
    """A feature recognised in the text, with its place and the rule's confidence."""

    start: int
    end: int
    text: str
    feature: str
    confidence: float


@dataclass(frozen=True)
class WordShare:
    """The share of words the count model gives each component.

    Attributes
    ----------
    shares
        In the order of `COMPONENTS`, sum 1.
    index
        African American over African American and White, in [0, 1]: the gauge.
    label
        The largest component, ties to African American (as in Tang et al.).
    n_known, n_tokens
        Tokens in the table, and all.
    is_weak
        Whether fewer than five tokens are known.
    contributions
        ``(token, African American minus White)`` for each known token, in order.
    robust_index
        The index without words of fewer than 30 counts; None where too few are left.
    """

    shares: tuple[float, float, float, float]
    index: float
    label: str
    n_known: int
    n_tokens: int
    is_weak: bool
    contributions: tuple[tuple[str, float], ...]
    robust_index: float | None


@dataclass(frozen=True)
class DialectScore:
    """Both views of one text.

    Attributes
    ----------
    features
        What was recognised, by start.
    n_clauses
        Stretches between sentence marks, commas and conjunctions that hold a verb or
        three words.
    per_clause
        Features recognised per clause; None for a text without words.
    share
        The count model's view, or None.
    share_note
        Why there is no share, as a sentence; None when there is one.
    limits
        What neither view measures.
    """

    features: tuple[FoundFeature, ...]
    n_clauses: int
    per_clause: float | None
    share: WordShare | None
    share_note: str | None
    limits: tuple[str, ...] = LIMITS


class CountTable:
    """The counts of each word under the four components.

    Parameters
    ----------
    words
        Lower-case types, each once.
    counts : shape (n, 4), float64, not negative
        In the order of `COMPONENTS`.
    """

    def __init__(self, words: Sequence[str], counts: np.ndarray) -> None:
        values = np.asarray(counts, dtype=np.float64)
        if values.ndim != 2 or values.shape != (len(words), len(COMPONENTS)):
            raise InputError(
                f"A count table needs one row a word and {len(COMPONENTS)} columns; found "
                f"{len(words)} words and an array of shape {values.shape}."
            )
        if len(words) == 0 or not np.isfinite(values).all() or (values < 0).any():
            raise InputError("A count table needs words and finite counts of 0 or more.")
        self._row = {word: row for row, word in enumerate(words)}
        if len(self._row) < len(words):
            raise InputError("A count table names each word once.")
        self._counts = values
        self._totals = values.sum(axis=0)
        if (self._totals <= 0).any():
            raise InputError("Each component of a count table needs at least one count.")

    @classmethod
    def read(cls, path: str | Path) -> CountTable:
        """The table of a Parquet or CSV file with ``word`` and the four components.

        Raises
        ------
        FileError
            The file cannot be read, or lacks a column.
        """
        path = Path(path)
        try:
            if path.suffix.lower() == ".csv":
                frame = pd.read_csv(path, dtype={"word": "str"}, keep_default_na=False)
            else:
                frame = pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise FileError(f"The count table {path.name!r} cannot be read: {error}.") from error
        absent = [name for name in ("word", *COMPONENTS) if name not in frame.columns]
        if absent:
            raise FileError(
                f"The count table {path.name!r} lacks the column {', '.join(map(repr, absent))}; "
                f"found {', '.join(map(repr, frame.columns))}."
            )
        return cls(frame["word"].tolist(), frame[list(COMPONENTS)].to_numpy(np.float64))

    def __len__(self) -> int:
        return len(self._row)

    def frame(self) -> pd.DataFrame:
        """The table as `read` takes it."""
        found = pd.DataFrame(self._counts, columns=list(COMPONENTS))
        found.insert(0, "word", list(self._row))
        return found

    def likelihoods(
        self, tokens: Sequence[str], *, least: float = 0
    ) -> tuple[list[str], np.ndarray]:
        """Known tokens and, row by row, ``(count + 1) / total`` of each component."""
        rows = [(t, self._row[t]) for t in tokens if t in self._row]
        rows = [(t, row) for t, row in rows if self._counts[row].sum() >= least]
        counts = self._counts[[row for _, row in rows]].reshape(len(rows), len(COMPONENTS))
        return [t for t, _ in rows], (counts + 1) / self._totals


def posterior(likelihoods: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the components in a text, by collapsed variational inference (CVB0).

    Parameters
    ----------
    likelihoods : shape (n_tokens, n_components)
        Of each token under each component.

    Returns
    -------
    shares : shape (n_components,), sum 1
    responsibilities : shape (n_tokens, n_components), rows sum 1
        Each token's shares after the last of five passes.

    References
    ----------
    Blodgett, Green and O'Connor (2016), *Demographic dialectal variation in social media*.
    """
    start = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    shares = start.copy()
    total = shares.sum(axis=0)
    for _ in range(_PASSES):
        for i in range(len(shares)):
            total = total - shares[i]
            weighted = start[i] * (total + 1)
            shares[i] = weighted / weighted.sum()
            total = total + shares[i]
    return total / total.sum(), shares


def posteriors(texts: Sequence[Sequence[str]], table: CountTable) -> np.ndarray:
    """`posterior` of many texts at once.

    Parameters
    ----------
    texts
        Lower-case tokens of each.

    Returns
    -------
    shape (n_texts, n_components)
        Rows sum to 1; missing where no token, or fewer than a fifth of them, is in the table.
    """
    found = np.full((len(texts), len(COMPONENTS)), np.nan)
    for start in range(0, len(texts), _TEXTS):
        part = texts[start : start + _TEXTS]
        likelihoods = [table.likelihoods(tokens)[1] for tokens in part]
        usable = [
            row
            for row, (tokens, known) in enumerate(zip(part, likelihoods, strict=True))
            if len(known) and len(known) / len(tokens) >= _LEAST_KNOWN
        ]
        if usable:
            shares = _swept([likelihoods[row] for row in usable])
            found[[start + row for row in usable]] = shares
    return found


def _swept(likelihoods: Sequence[np.ndarray]) -> np.ndarray:
    """The passes of `posterior`, the i-th token of all texts at a time."""
    order = sorted(range(len(likelihoods)), key=lambda row: -len(likelihoods[row]))
    longest = len(likelihoods[order[0]])
    start = np.zeros((longest, len(order), len(COMPONENTS)))
    for at, row in enumerate(order):
        known = likelihoods[row]
        start[: len(known), at] = known / known.sum(axis=1, keepdims=True)
    # Texts that have an i-th token come first, so that each step takes a leading block.
    n_at = [int((start[i].sum(axis=1) > 0).sum()) for i in range(longest)]
    shares = start.copy()
    total = shares.sum(axis=0)
    for _ in range(_PASSES):
        for i, n in enumerate(n_at):
            total[:n] -= shares[i, :n]
            weighted = start[i, :n] * (total[:n] + 1)
            shares[i, :n] = weighted / weighted.sum(axis=1, keepdims=True)
            total[:n] += shares[i, :n]
    result = np.empty_like(total)
    result[order] = total / total.sum(axis=1, keepdims=True)
    return result


def score(
    text: str, *, table: CountTable | None = None, tokens: str | Sequence[str] = "regex"
) -> DialectScore:
    """How much a text resembles AAL writing; nothing is stored.

    Parameters
    ----------
    table
        The count table, where it has been imported.
    tokens
        ``"regex"`` (punctuation apart), ``"split"`` (white space only, as in Tang et al.) or
        the tokens themselves.

    Examples
    --------
    >>> [found.feature for found in score("He don't have no fever.").features]
    ['invariant_dont', 'negative_concord']
    """
    found = _features(to_wme(checked_text(text)))
    n_clauses = _clauses(text)
    share, note = _share(text, table, tokens)
    per_clause = len(found) / n_clauses if n_clauses else None
    return DialectScore(tuple(found), n_clauses, per_clause, share, note)


def _features(rewrite: Rewrite) -> list[FoundFeature]:
    """One feature for each bundle that the normaliser undoes."""
    bundles: dict[int, list[Edit]] = {}
    for edit in rewrite.edits:
        bundles.setdefault(edit.bundle, []).append(edit)
    return [
        FoundFeature(
            edits[0].start,
            edits[-1].end,
            rewrite.source[edits[0].start : edits[-1].end],
            edits[0].feature,
            edits[0].confidence,
        )
        for edits in bundles.values()
    ]


_JOINTS = frozenset({"and", "but", "because", "so", "or", "if", "when", "that", "which", "who"})


def _clauses(text: str) -> int:
    """Stretches of three words or more between marks and joining words; at least one."""
    lengths = [0]
    for token in tokenise(text):
        if (token.kind == "punct" and token.lower in ".?!,;:") or token.lower in _JOINTS:
            lengths.append(0)
        elif token.kind == "word":
            lengths[-1] += 1
    long = sum(n >= 3 for n in lengths)
    return max(long, 1) if any(lengths) else 0


def _share(
    text: str, table: CountTable | None, tokens: str | Sequence[str]
) -> tuple[WordShare | None, str | None]:
    if table is None:
        return None, "The count table has not been imported; see: import twitteraae PATH."
    words = _words(text, tokens)
    known, likelihoods = table.likelihoods(words)
    if not known:
        return None, f"None of the {len(words)} tokens is in the count table."
    if len(known) / len(words) < _LEAST_KNOWN:
        return None, f"Only {len(known)} of {len(words)} tokens are in the count table."
    shares, responsibilities = posterior(likelihoods)
    robust, rest = table.likelihoods(words, least=_RARE)
    robust_index = None
    if robust and len(robust) / len(words) >= _LEAST_KNOWN:
        robust_index = _index(posterior(rest)[0])
    margin = responsibilities[:, 0] - responsibilities[:, 3]
    first, second, third, fourth = (float(value) for value in shares)
    return WordShare(
        shares=(first, second, third, fourth),
        index=_index(shares),
        label=COMPONENTS[int(np.argmax(shares))],
        n_known=len(known),
        n_tokens=len(words),
        is_weak=len(known) < 5,
        contributions=tuple(zip(known, map(float, margin), strict=True)),
        robust_index=robust_index,
    ), None


def _index(shares: np.ndarray) -> float:
    return float(shares[0] / (shares[0] + shares[3]))


def _words(text: str, tokens: str | Sequence[str]) -> list[str]:
    if not isinstance(tokens, str):
        return [straight(token).lower() for token in tokens]
    plain = straight(text).lower()
    if tokens == "split":
        return plain.split()
    if tokens == "regex":
        return _TOKEN.findall(plain)
    raise InputError(f"Tokens are 'regex', 'split' or a list of tokens; found {tokens!r}.")
