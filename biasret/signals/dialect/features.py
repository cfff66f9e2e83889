"""The feature table: every AAL feature the engine generates, recognises or refuses."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from biasret.catalogue import Catalogue
from biasret.errors import InputError, UnknownName

__all__ = ["FEATURES", "PROFILES", "Feature", "enabled_features"]


@dataclass(frozen=True)
class Feature:
    """One feature of AAL, with the conditions that license it here.

    Attributes
    ----------
    name
        Key used in code, edits and links: ``"zero_copula_adj"``.
    layer
        ``syntax``, ``morphology``, ``respelling``, or ``digital`` (texting style, which is
        no dialect feature).
    ewave, ewave_name, rating, attestation
        Number(s), name, letter and Multi-VALUE's number for urban AAVE in eWAVE; empty or
        None where eWAVE has no such feature. Ratings are not token frequencies.
    weight
        In [0, 1]: at density d a candidate is used with probability d ** (1 / weight).
        Our own number: the rating, lowered for risk to the meaning, for features rare in
        writing, and for those a reader would find laid on thick.
    min_density
        Below it the feature is silent.
    status
        ``on`` by default, ``off`` by default, ``recognise`` (undone or listed but not
        generated) or ``excluded`` (no code path makes it, because it changes the meaning).
    order
        Where two candidates want the same words, the lower order wins.
    shared
        Whether other varieties of English have it too; ``mostly`` counts.
    token_safe
        Whether it can be decided on tokens alone, without the parser.
    """

    id: str
    name: str
    layer: str
    ewave: str
    ewave_name: str
    rating: str
    attestation: float | None
    weight: float
    min_density: float
    status: str
    order: int
    trigger: str
    conditions: str
    blocks: str
    meaning: str
    example_wme: str
    example_aal: str
    negative_example: str
    reverse_rule: str
    risk: str
    shared: bool
    token_safe: bool

    @property
    def is_generated(self) -> bool:
        """Whether `to_aal` can produce it."""
        return self.status in ("on", "off")

    @property
    def is_spelling(self) -> bool:
        """Whether it respells words and leaves the grammar alone."""
        return self.layer in ("respelling", "digital")


def _feature(row: dict[str, str]) -> Feature:
    attestation = row["multivalue_attestation"]
    return Feature(
        id=row["id"],
        name=row["key"],
        layer=row["layer"],
        ewave=row["ewave_no"],
        ewave_name=row["ewave_name"],
        rating=row["ewave_rating"],
        attestation=float(attestation) if attestation else None,
        weight=float(row["weight"]),
        min_density=float(row["min_density"]),
        status=row["status"],
        order=int(row["order"]),
        trigger=row["trigger"],
        conditions=row["conditions"],
        blocks=row["blocks"],
        meaning=row["meaning"],
        example_wme=row["example_wme"],
        example_aal=row["example_aal"],
        negative_example=row["negative_example"],
        reverse_rule=row["reverse_rule"],
        risk=row["risk"],
        shared=row["shared_outside_aal"] == "yes",
        token_safe=row["token_safe"] == "yes",  # noqa: S105
    )


def _read() -> list[Feature]:
    path = files("biasret.signals.dialect").joinpath("data/features.csv")
    return [_feature(row) for row in csv.DictReader(io.StringIO(path.read_text("utf-8")))]


#: Every feature by key, in the order of the table.
FEATURES: Catalogue[Feature] = Catalogue("dialect feature", _read())

_GRAMMAR = [f.name for f in FEATURES.values() if f.status == "on" and not f.is_spelling]

#: Which features a profile turns on; ``custom`` takes them from the caller.
PROFILES: dict[str, frozenset[str]] = {
    "grammar": frozenset(_GRAMMAR),
    "grammar+ing": frozenset([*_GRAMMAR, "g_drop", "reduction"]),
    "full": frozenset(
        [*_GRAMMAR, "g_drop", "reduction", "th_stop", "th_final", "r_less", "cluster_red"]
    ),
    "custom": frozenset(),
}


@cache
def _of_profile(profile: str) -> frozenset[str]:
    if profile not in PROFILES:
        raise UnknownName("dialect profile", profile, PROFILES)
    return PROFILES[profile]


def enabled_features(features: Iterable[str] | None, profile: str) -> frozenset[str]:
    """The features turned on: those named, or else those of the profile.

    Raises
    ------
    UnknownName
        No such profile or feature.
    InputError
        A feature is named that is only recognised or that is excluded, or `features` is
        one string.
    """
    by_profile = _of_profile(profile)
    if features is None:
        return by_profile
    if isinstance(features, str):
        raise InputError(f"Features should be a list of names; found the text {features!r}.")
    chosen = frozenset(FEATURES[name].name for name in features)
    for name in sorted(chosen):
        if not FEATURES[name].is_generated:
            raise InputError(
                f"The feature {name!r} is never generated ({FEATURES[name].risk or 'recognised'}); "
                "leave it out."
            )
    return chosen
