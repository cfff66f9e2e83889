"""HealthCareMagic of the release: answers, rewritten and natural questions, ranks of their gold."""

from biasret.datasets.release.hcmagic.answers import Shared, shared
from biasret.datasets.release.hcmagic.natural import load_natural
from biasret.datasets.release.hcmagic.rewritten import load_rewritten

__all__ = ["Shared", "load_natural", "load_rewritten", "shared"]
