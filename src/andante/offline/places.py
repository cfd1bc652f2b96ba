"""An order of points in the plane in which neighbouring points are mostly near each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

CURVE_BITS = 16  # of a coordinate on the Hilbert curve


def along_hilbert(places: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the position of each of these points along a Hilbert curve, [n]."""
    places = places.astype(np.float64) - places.min(axis=0, initial=0)
    extent = max(float(places.max(initial=0.0)), 1e-300)
    grain = 2.0 ** np.floor(np.log2((2**CURVE_BITS - 1) / extent))  # a power of two keeps whole coordinates apart
    x, y = (places * grain).astype(np.int64).T
    along = np.zeros(len(places), np.int64)
    for bit in range(CURVE_BITS - 1, -1, -1):
        right, low = x >> bit & 1, y >> bit & 1
        along += (3 * right ^ low) << 2 * bit
        mask = (1 << bit) - 1
        x, y = x & mask, y & mask
        turned = (low == 0) & (right == 1)
        x, y = np.where(turned, mask - x, x), np.where(turned, mask - y, y)
        x, y = np.where(low == 0, y, x), np.where(low == 0, x, y)
    return along
