"""Values of table 3.4 of the thesis behind INCEPTIONN on compressed gradients, and those of its text."""

from __future__ import annotations

import numpy as np
import pytest

from hostnet import codec

SHARES = {
    ("AlexNet", 10): (74.9, 3.9, 21.1, 0.1),
    ("AlexNet", 8): (82.5, 14.8, 2.6, 0.1),
    ("AlexNet", 6): (93.0, 7.0, 0.0, 0.1),
    ("HDC", 10): (92.0, 6.5, 1.5, 0.0),
    ("HDC", 8): (95.7, 3.4, 0.9, 0.0),
    ("HDC", 6): (98.1, 1.6, 0.4, 0.0),
    ("ResNet-50", 10): (81.6, 17.9, 0.5, 0.0),
    ("ResNet-50", 8): (92.3, 7.7, 0.1, 0.0),
    ("ResNet-50", 6): (97.6, 2.4, 0.0, 0.0),
    ("VGG-16", 10): (94.2, 0.9, 4.9, 0.0),
    ("VGG-16", 8): (96.2, 3.8, 0.0, 0.0),
    ("VGG-16", 6): (97.3, 2.7, 0.0, 0.0),
}
"""Percent of gradients with 0, 8, 16 and 32 bits besides their tags, by network and k of the bound 2^-k."""


def ratio_of(network: str, bound: int) -> float:
    """Returns the compression ratio of floats with these shares of each class."""
    values = (0.0, 2.0**-bound, 0.5, 1.0)
    counts = [round(80 * share) for share in SHARES[network, bound]]
    sizes = codec.sizes(np.repeat(np.array(values, np.float32), counts), bound)
    assert list(sizes.classes.values()) == counts
    return sizes.ratio


@pytest.mark.parametrize(("network", "bound"), SHARES)
def test_the_ratio_of_published_shares_is_that_of_their_bits(network: str, bound: int) -> None:
    shares = np.array(SHARES[network, bound])
    bits = shares @ (2, 10, 18, 34) / shares.sum()
    assert ratio_of(network, bound) == pytest.approx(32 / bits, rel=0.001)


def test_ratios_are_in_the_ranges_of_the_text() -> None:
    of_bound = {bound: [ratio_of(*key) for key in SHARES if key[1] == bound] for bound in (10, 6)}
    assert (min(of_bound[10]), max(of_bound[10])) == pytest.approx((5.5, 11.6), rel=0.02)
    assert max(of_bound[6]) == pytest.approx(14.9, rel=0.03)
    assert min(of_bound[6]) > 12
