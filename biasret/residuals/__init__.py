"""What remains of each gap once vocabulary is held fixed."""

from biasret.residuals.fits import FEW, SEED_BASE, is_small, residuals, vocabulary
from biasret.residuals.stored import store_residuals

__all__ = ["FEW", "SEED_BASE", "is_small", "residuals", "store_residuals", "vocabulary"]
