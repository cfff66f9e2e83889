"""AAL to WME: spellings read back, then grammar, each change with its confidence."""

from __future__ import annotations

from biasret.signals.dialect.wme.translate import to_wme, to_wme_many

__all__ = ["to_wme", "to_wme_many"]
