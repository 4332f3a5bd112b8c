"""A written calibration reproduces the measurements, or nothing is written and the rows are named."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hostnet.calibration import TOLERANCE, DataError, calibrate
from hostnet.calibration.measurement import Conditions
from hostnet.calibration.scenario import answer_of, workloads_of
from hostnet.presets import ServerFile, load_server
from hostnet.running.engines import evaluate
from tests.calibrate.support import RUN, Ask, general_table
from tests.support import raises_code

SERVER = load_server("cascade-lake-6234")

PARAMETERS: dict[str, list[Any]] = {
    "core.lfb.entries": [6, 10, 16],
    "core.lfb.refill": ["6 ns", "20 ns", "30 ns"],
    "core.to_cha": ["1 ns", "4 ns"],
    "cha.read_to_mc": ["15 ns", "35 ns", "60 ns"],
    "cha.from_mc": ["10 ns", "30 ns"],
    "cha.tor.entries": [8, 14, 20],
    "iio.write_credits": [30, 60, 120],
    "iio.write_to_cha": ["120 ns", "260 ns"],
    "ssd.latency": ["5 us", "25 us"],
    "ssd.read_bandwidth": ["2 GB/s", "3 GB/s"],
    "memory.controller.rpq.entries": [24, 64],
}
"""Parameters that may be fitted, and their true values."""

ASKS: list[Ask] = [
    ("latency", Conditions(probe="sequential")),
    ("latency", Conditions(cores=4, probe="sequential")),
    *(("bandwidth", Conditions(cores=cores)) for cores in (1, 2, 4, 6)),
    ("bandwidth", Conditions(cores=4, reads=0.6)),
    ("lfb_latency", Conditions(cores=2)),
    *(("io_bandwidth", Conditions(rw="read", bs=bs, iodepth=depth)) for bs, depth in ((4096, 4), (2**17, 64))),
    ("iio_latency", Conditions(rw="read", bs=2**17, iodepth=64)),
]


def predict(server: ServerFile, true: dict[str, Any], asks: Sequence[Ask]) -> list[float]:
    plans = [server.configuration(workloads_of(conditions, server), RUN, true) for _, conditions in asks]
    results = evaluate("predict", plans, None)
    return [answer_of(quantity, result)[0] for (quantity, _), result in zip(asks, results, strict=True)]


def is_written(seed: int, folder: Path) -> bool:
    """Calibrates to random measurements of a known server. Returns true if a result was written, which is checked."""
    draw = random.Random(seed)
    true: dict[str, Any] = {
        path: draw.choice(PARAMETERS[path]) for path in draw.sample(list(PARAMETERS), draw.randint(1, 4))
    }
    fitted = draw.choice([list(true), draw.sample(list(PARAMETERS), draw.randint(1, 4))])
    asks = draw.sample(ASKS, draw.randint(1, len(ASKS)))
    noise = draw.choice([0.0, 0.01, 0.03])
    values = [value * draw.gauss(1, noise) for value in predict(SERVER, true, asks)]
    data = folder / "measured.csv"
    data.write_text(general_table(asks, values))
    try:
        result = calibrate(SERVER, [str(data)], fitted, engine="predict")
    except DataError as error:
        refused = str(error)
        assert re.search(r"measured.csv:\d+: .* % (above|below)", refused), refused
        assert "nothing was written" in refused
        return False
    place = folder / "new.toml"
    place.write_text(result.text(place))
    for ask, value, said in zip(asks, values, predict(load_server(str(place)), {}, asks), strict=True):
        assert abs(math.log(said / value)) < math.log1p(TOLERANCE) + 1e-3, (seed, ask, value, said)
    for one in result.fit.parameters:
        if not one.is_fitted:
            assert (one.value, one.sigma) == (one.start, None)
            assert all(int(share) <= 100 for share in re.findall(r"(\d+) %", str(one.undetermined)))
    return True


@pytest.mark.parametrize(
    "seeds", [range(14, 20), pytest.param(range(100), marks=pytest.mark.long)], ids=["few", "many"]
)
def test_what_is_written_says_what_was_measured_or_nothing_is_written(seeds: range, tmp_path: Path) -> None:
    written = [is_written(seed, tmp_path) for seed in seeds]
    assert len(seeds) / 6 < sum(written) < len(seeds), "both happen"


def test_every_row_counts_and_not_the_mean_of_those_that_say_the_same(tmp_path: Path) -> None:
    data = tmp_path / "stream.csv"
    data.write_text("cores,GB/s\n" + 5 * "1,8.2\n" + "1,9.15\n")
    with raises_code("implausible-data | stream.csv:7", DataError):
        calibrate(SERVER, [str(data)], tolerance=0.01, engine="predict")


def test_parameters_that_stay_are_named_where_that_misses_the_measurements(tmp_path: Path) -> None:
    data = tmp_path / "idle.csv"
    data.write_text("quantity,value,unit\nlatency,110,ns\n")
    stays = "implausible-data | idle.csv:2 | cha.read_to_mc | cha.from_mc"
    with raises_code(stays, DataError):
        calibrate(SERVER, [str(data)], ["cha.read_to_mc", "cha.from_mc"], engine="predict")
