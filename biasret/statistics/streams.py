"""Random draws in blocks: bootstrap indices, and sums under random signs.

The streams repeat the paper's draw for draw (Tang et al., released code). Checked on
NumPy 2.4: ``Generator.choice(u, n)`` draws what ``integers(0, n, n)`` draws; one call for
many rows gives the same stream as one call a row; and each bounded integer takes the next
32-bit word w, giving ``w * n >> 32`` unless ``w * n`` modulo 2**32 falls short of 2**32
modulo n, when it takes another (Lemire 2019). So all draws of a block can be computed at
once from its words, and a sign is the first bit of its word.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np

__all__ = ["count_signs", "use_indices", "word_signs"]

#: Draws held in memory at once; small enough for a processor's cache. Changes no result.
BLOCK_DRAWS = 1 << 17
#: Replicates between two turns of binomial and bitwise draws in `count_signs`; fixes the
#: order of its stream, so changing it changes its results.
TURN = 4096
#: Above this many equal differences one binomial draw is cheaper than their bits.
MANY_EQUAL = 128


def use_indices(
    rng: np.random.Generator,
    sizes: tuple[int, ...],
    resamples: int,
    use: Callable[[slice, np.ndarray], None],
) -> None:
    """Hand out bootstrap indices in blocks of replicates.

    Each replicate draws, for each size n in turn, what ``integers(0, n, n)`` would draw;
    indices of later groups come after those of earlier ones.

    Parameters
    ----------
    use
        Called with the rows of a block and its indices, shape (rows, sum of sizes), which
        hold good only during the call.
    """
    maker = _Indices(sizes)
    height = max(1, BLOCK_DRAWS // maker.width)
    for at in range(0, resamples, height):
        rows = slice(at, min(at + height, resamples))
        use(rows, maker.block(rng, rows.stop - rows.start))


class _Indices:
    """Makes indices from words; one block's memory serves all, a fresh one costs more."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes, self.width = sizes, sum(sizes)
        # One row suffices where all columns are drawn alike, and is faster.
        repeats = sizes if len(sizes) > 1 else 1
        self._highs = np.repeat(np.array(sizes, dtype=np.uint32), repeats)
        # 2**32 modulo n: a word whose product has a smaller low half is drawn again.
        self._unfair = ((1 << 32) % self._highs.astype(np.uint64)).astype(np.uint32)
        starts = np.cumsum([0, *sizes[:-1]])
        self._offsets = np.repeat(starts, repeats).astype(np.uint64) << np.uint64(32)
        self._memory = np.empty((0, self.width), dtype=np.uint64)

    def block(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        """Indices of the next replicates, shape (rows, width)."""
        state = rng.bit_generator.state
        words = _words(rng, rows * self.width).reshape(rows, self.width)
        # One-element groups take no word at all, and unfair words shift all that follow.
        if 1 in self.sizes or ((words * self._highs).min(axis=0) < self._unfair).any():
            rng.bit_generator.state = state
            return self.plain(rng, rows)
        if len(self._memory) < rows:
            self._memory = np.empty((rows, self.width), dtype=np.uint64)
        scaled = self._memory[:rows]
        scaled[...] = words
        scaled *= self._highs
        if len(self.sizes) > 1:
            scaled += self._offsets
        scaled >>= np.uint64(32)
        return scaled.view(np.int64)

    def plain(self, rng: np.random.Generator, rows: int) -> np.ndarray:
        """The same indices drawn one replicate after the other."""
        return _plain_indices(rng, self.sizes, rows)


def _plain_indices(rng: np.random.Generator, sizes: tuple[int, ...], rows: int) -> np.ndarray:
    if len(sizes) == 1:
        return rng.integers(0, sizes[0], size=(rows, sizes[0]))
    starts = np.cumsum([0, *sizes[:-1]])
    return np.stack(
        [
            np.concatenate(
                [rng.integers(0, n, size=n) + at for n, at in zip(sizes, starts, strict=True)]
            )
            for _ in range(rows)
        ]
    )


def word_signs(data: np.ndarray, resamples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Sums of the data under the paper's signs, in blocks of replicates."""
    table = _octet_sums(data)
    for rows in _blocks(resamples, data.size):
        words = _words(rng, rows * data.size).reshape(rows, data.size)
        # The sign is the word's top bit: set for +1.
        yield _looked_up(table, np.packbits(words.view(np.int32) < 0, axis=1))


def count_signs(data: np.ndarray, resamples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Sums of the data under signs drawn by distinct absolute value, in blocks."""
    sizes, counts = np.unique(np.abs(data[data != 0]), return_counts=True)
    many = counts > MANY_EQUAL
    table = _octet_sums(np.repeat(sizes[~many], counts[~many]))
    # Whole 64-bit words a row, so that blocks of any height read the same stream.
    n_words = -(-len(table) // 8)
    for start in range(0, resamples, TURN):
        turn = min(TURN, resamples - start)
        sums = np.zeros(turn)
        for size, count in zip(sizes[many], counts[many], strict=True):
            sums += size * (2 * rng.binomial(count, 0.5, size=turn) - count)
        done = 0
        for rows in _blocks(turn, len(table)) if len(table) else ():
            octets = rng.integers(0, 1 << 64, size=(rows, n_words), dtype=np.uint64)
            drawn = octets.view(np.uint8)[:, : len(table)]
            sums[done : done + rows] += _looked_up(table, drawn)
            done += rows
        yield sums


def _octet_sums(data: np.ndarray) -> np.ndarray:
    """Signed sums of each eight neighbours under each of the 256 sign patterns."""
    padded = np.zeros(-(-data.size // 8) * 8)
    padded[: data.size] = data
    patterns = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0
    return padded.reshape(-1, 8) @ patterns.T


def _looked_up(table: np.ndarray, octets: np.ndarray) -> np.ndarray:
    at = octets + np.arange(0, table.size, 256)
    return table.ravel().take(at).sum(axis=1)


def _words(rng: np.random.Generator, n: int) -> np.ndarray:
    """The next n 32-bit words of the stream."""
    bits = rng.bit_generator
    if type(bits) is not np.random.PCG64 or sys.byteorder != "little":
        return rng.integers(0, 1 << 32, size=n, dtype=np.uint32)
    # PCG64 splits each 64-bit word, low half first, and keeps an unused half for later.
    # 64-bit words are drawn faster, so halves are asked for only at the two ends.
    if n % 2 == 0 and not bits.state["has_uint32"]:
        return rng.integers(0, 1 << 64, size=n // 2, dtype=np.uint64).view(np.uint32)
    words = np.empty(n, dtype=np.uint32)
    n_kept = min(bits.state["has_uint32"], n)
    n_whole = (n - n_kept) // 2
    words[:n_kept] = rng.integers(0, 1 << 32, size=n_kept, dtype=np.uint32)
    whole = rng.integers(0, 1 << 64, size=n_whole, dtype=np.uint64)
    words[n_kept : n_kept + 2 * n_whole] = whole.view(np.uint32)
    n_left = n - n_kept - 2 * n_whole
    words[n - n_left :] = rng.integers(0, 1 << 32, size=n_left, dtype=np.uint32)
    return words


def _blocks(resamples: int, width: int) -> Iterator[int]:
    """Heights of blocks of replicates."""
    height = max(1, BLOCK_DRAWS // width)
    for start in range(0, resamples, height):
        yield min(height, resamples - start)
