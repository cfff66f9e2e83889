"""Query text -> token scores, and from them one score per query.

A token's score says how much more readily one group uses it than the other. Everything is
oriented as the gaps are: a positive score points to the minuend, so that what vocabulary
accounts for and what remains add up to minuend minus subtrahend. The paper's AllSides tables
score the subtrahend (left) as positive: their scores, and with them mean regressor and slope,
are the negatives of these; the product of the two, and what remains, are the same.
"""

from __future__ import annotations

from collections import Counter
from math import fsum

import numpy as np
import pandas as pd

from biasret.tables import check, empty
from biasret.tokens import tokenise

__all__ = ["PRIOR", "log_odds", "query_scores", "strongest", "token_scores"]

#: Mass of the Dirichlet prior, over all tokens together (Tang et al., released code).
PRIOR = 0.01


def log_odds(minuend: np.ndarray, subtrahend: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds ratio of every token under a Dirichlet prior, and its z-score.

    With counts a and b, totals A and B, the prior adds `PRIOR` in total to each group, spread
    over the tokens as they are used by both groups together:

        prior = PRIOR (a + b) / (A + B);  a' = a + prior;  b' = b + prior
        log-odds = ln(a' / (A + PRIOR - a')) - ln(b' / (B + PRIOR - b'))
        zeta = log-odds / sqrt(1 / a' + 1 / b')

    The prior is weak, so a token that one group never uses has a large variance and a score
    near 0: scores rest on tokens that both groups use.

    Parameters
    ----------
    minuend, subtrahend : shape (n_tokens,)
        How often each group uses each token; no token is used by neither.

    Returns
    -------
    log_odds, zeta : float64, shape (n_tokens,)
        Positive: used more by the minuend. Both are 0 where there is only one token, which
        then makes up all of the text of both groups.

    References
    ----------
    Monroe, Colaresi and Quinn (2008), Fightin' Words; Tang et al., section 3.

    Examples
    --------
    >>> odds, zeta = log_odds(np.array([3, 1]), np.array([1, 3]))
    >>> odds.round(3).tolist(), zeta.round(3).tolist()
    ([2.191, -2.191], [1.901, -1.901])
    """
    a, b = np.asarray(minuend, dtype=np.float64), np.asarray(subtrahend, dtype=np.float64)
    if a.size < 2:
        return np.zeros(a.size), np.zeros(a.size)
    prior = PRIOR * (a + b) / (a.sum() + b.sum())
    first, second = a + prior, b + prior
    # Subtracted count from count and prior from prior: neither then loses digits to the other.
    others = (a.sum() - a) + (PRIOR - prior), (b.sum() - b) + (PRIOR - prior)
    odds = np.log(first / others[0]) - np.log(second / others[1])
    return odds, odds / np.sqrt(1 / first + 1 / second)


def token_scores(queries: pd.DataFrame, *, minuend: str, subtrahend: str) -> pd.DataFrame:
    """How strongly every token of two groups' queries points to one of them.

    Parameters
    ----------
    queries : ``dataset``, ``group``, ``text``
        Of one dataset. All wordings of a group are pooled; other groups are not counted.

    Returns
    -------
    pandas.DataFrame
        A ``token_scores`` table: counts, log-odds and zeta as in `log_odds`, those that point
        most to the minuend first, equal ones by token. Without rows if neither group has one.
    """
    counts = [_counts(queries, group) for group in (minuend, subtrahend)]
    tokens = sorted(counts[0].keys() | counts[1].keys())
    if not tokens:
        return empty("token_scores")
    first, second = (np.array([one[token] for token in tokens]) for one in counts)
    odds, zeta = log_odds(first, second)
    table = pd.DataFrame(
        {
            "dataset": queries["dataset"].iloc[0],
            "minuend": minuend,
            "subtrahend": subtrahend,
            "token": tokens,
            "count_minuend": first,
            "count_subtrahend": second,
            "log_odds": odds,
            "zeta": zeta,
        }
    )
    # Tokens are in order already, and a stable sort keeps them so among equals.
    return check(table.sort_values("zeta", ascending=False, kind="stable"), "token_scores")


def _counts(queries: pd.DataFrame, group: str) -> Counter[str]:
    texts = queries.loc[queries["group"] == group, "text"]
    return Counter(token for text in texts for token in tokenise(text))


def strongest(tokens: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The tokens that point most to each group.

    Parameters
    ----------
    tokens
        ``token_scores`` rows of one contrast, in any order.
    n
        At most so many of each side.

    Returns
    -------
    pandas.DataFrame
        The minuend's strongest first, the subtrahend's strongest last.
    """
    order = tokens.sort_values(["zeta", "token"], ascending=[False, True], ignore_index=True)
    up, down = order[order["zeta"] > 0].head(n), order[order["zeta"] < 0].tail(n)
    return pd.concat([up, down], ignore_index=True)


def query_scores(queries: pd.DataFrame, tokens: pd.DataFrame) -> pd.DataFrame:
    """Sum of the scores of all tokens of each query.

    Parameters
    ----------
    queries : ``query_id``, ``text``
        Of any group.
    tokens : ``token``, ``zeta``

    Returns
    -------
    pandas.DataFrame
        ``query_id`` and ``score``, in the order of `queries`. A token that occurs twice counts
        twice; one without a score counts 0. Positive: the wording points to the minuend. A
        blank text has no score: its wording is not known, which is not to say that it is even.

    Examples
    --------
    >>> known = pd.DataFrame({"token": ["tax", "school"], "zeta": [2.0, -0.5]})
    >>> asked = pd.DataFrame({"query_id": ["a", "b"], "text": ["Tax, tax, school!", "court"]})
    >>> query_scores(asked, known)["score"].tolist()
    [3.5, 0.0]
    """
    zeta = dict(zip(tokens["token"], tokens["zeta"].tolist(), strict=True))
    # Summed exactly, so that the order of words cannot matter.
    scores = [
        fsum(zeta.get(token, 0.0) for token in tokenise(text)) if text.strip() else np.nan
        for text in queries["text"]
    ]
    return pd.DataFrame(
        {
            "query_id": queries["query_id"].to_numpy(dtype=object),
            "score": np.array(scores, dtype=np.float64),
        }
    )
