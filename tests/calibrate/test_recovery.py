"""Known parameters are recovered, and parameters that the data do not determine are not guessed."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path

import pytest

from hostnet import _core
from hostnet.calibration import DataError, Measurement, calibrate
from hostnet.calibration.consistency import check_residuals
from hostnet.calibration.fit import FittedParameter
from hostnet.calibration.measurement import Conditions
from hostnet.calibration.parameters import quantity_value
from hostnet.presets import PROBE, load_server, value_at_path
from tests.calibrate.support import general_table, measure
from tests.support import raises_code

SERVER = load_server("cascade-lake-6234")

IDLE = ("latency", Conditions(probe="sequential"))
CORES = [("bandwidth", Conditions(cores=cores)) for cores in (1, 2)]


def by_path(results: tuple[FittedParameter, ...]) -> dict[str, FittedParameter]:
    return {result.path: result for result in results}


def write(folder: Path, name: str, text: str) -> str:
    file = folder / name
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize(
    ("true", "asks"),
    [
        ({"core.lfb.refill": "20 ns", "cha.read_to_mc": "35 ns"}, [*CORES, IDLE]),
        ({"core.lfb.refill": "30 ns", "cha.read_to_mc": "15 ns"}, [*CORES, IDLE]),
        (
            {"ssd.latency": "25 us", "ssd.read_bandwidth": "2.4 GB/s"},
            [("io_bandwidth", Conditions(rw="read", bs=bs, iodepth=depth)) for bs, depth in ((4096, 4), (2**17, 64))],
        ),
    ],
)
def test_known_parameters_are_recovered(
    tmp_path: Path, true: dict[str, str], asks: list[tuple[str, Conditions]]
) -> None:
    values = measure(SERVER, true, asks, noise=0.005, seed=3)
    data = write(tmp_path, "measured.csv", general_table(asks, values))
    result = calibrate(SERVER, [data])
    found = by_path(result.fit.parameters)
    assert set(found) == set(true), "the parameters that suit the data are chosen"
    for path, text in true.items():
        wanted = quantity_value(text, "bandwidth" if "bandwidth" in path else "time")
        assert found[path].sigma is not None
        assert abs(found[path].value - wanted) < 2 * (found[path].sigma or 0), found[path]
        assert found[path].value == pytest.approx(wanted, rel=0.05)
    written = tomllib.loads(result.text(tmp_path / "new.toml"))
    assert set(written) == {"server", *(path.split(".")[0] for path in true)}
    assert "calibrated against measured.csv" in result.text(tmp_path / "new.toml")


def test_a_count_is_recovered_exactly(tmp_path: Path) -> None:
    asks = CORES[:1]
    (value,) = measure(SERVER, {"core.lfb.entries": 10}, asks, noise=0.0, seed=1)
    data = write(tmp_path, "stream.csv", f"cores,GB/s\n1,{value:.3f}\n")
    result = calibrate(SERVER, [data], ["core.lfb.entries=6..16"])
    assert result.fit.parameters[0].value == 10
    assert value_at_path(tomllib.loads(result.text(tmp_path / "new.toml")), "core.lfb.entries") == 10


def test_the_result_does_not_depend_on_threads(tmp_path: Path) -> None:
    data = write(tmp_path, "stream.csv", "cores,GB/s\n1,8.2\n")
    first, second = (calibrate(SERVER, [data], threads=threads) for threads in (1, 2))
    assert first.content() == second.content()


def test_a_parameter_without_influence_is_left_alone(tmp_path: Path) -> None:
    data = write(tmp_path, "stream.csv", "cores,GB/s\n1,8.2\n")
    result = calibrate(SERVER, [data], ["core.lfb.refill", "iio.write_credits"])
    found = by_path(result.fit.parameters)
    assert found["core.lfb.refill"].is_fitted
    assert found["iio.write_credits"].undetermined == "no influence on these measurements"
    assert found["iio.write_credits"].value == 92
    assert "write_credits" not in result.text(tmp_path / "new.toml")


def test_parameters_of_one_sum_are_not_told_apart(tmp_path: Path) -> None:
    data = write(tmp_path, "idle.csv", "quantity,value,unit\nlatency,84,ns\n")
    result = calibrate(SERVER, [data], ["cha.read_to_mc", "cha.from_mc"])
    for one, other in zip(result.fit.parameters, reversed(result.fit.parameters), strict=True):
        assert one.value == one.start
        assert f"only its combination with {other.path} is determined" in str(one.undetermined)
    alone = calibrate(SERVER, [data], ["cha.from_mc"]).fit.parameters[0]
    assert alone.value == pytest.approx(19_000 + 84_000 - 1000 * latency_of_the_preset(), rel=0.05)


def latency_of_the_preset() -> float:
    (value,) = measure(SERVER, {}, [IDLE], noise=0, seed=0)
    return value


def test_a_best_value_at_a_bound_is_told(tmp_path: Path) -> None:
    data = write(tmp_path, "stream.csv", "cores,GB/s\n1,8.2\n")
    result = calibrate(SERVER, [data], ["core.lfb.refill=5 ns..18 ns"])
    assert result.fit.parameters[0].at_bound == "high"
    assert "at its upper bound" in result.text(tmp_path / "new.toml")


def test_contradictions_are_refused_with_their_rows(tmp_path: Path) -> None:
    repeated = write(tmp_path, "repeated.csv", "cores,GB/s\n1,9.1\n2,17\n1,13\n")
    with raises_code("implausible-data | repeated.csv:4 | repeated.csv:2 | 13 GB/s", DataError):
        calibrate(SERVER, [repeated])
    impossible = write(tmp_path, "impossible.csv", "cores,GB/s\n1,9.1\n2,8.2\n")
    with raises_code("implausible-data | impossible.csv:3 | 8.2", DataError):
        calibrate(SERVER, [impossible])
    one = write(tmp_path, "one.csv", "quantity,value,unit,sigma\nlatency,80,ns,0.5%\n")
    other = write(tmp_path, "other.csv", "quantity,value,unit,sigma\nlatency,0.085,us,0.5%\n")
    with raises_code("implausible-data | other.csv:2 | one.csv:2", DataError):
        calibrate(SERVER, [one, other])


def test_inline_tables_keep_their_form(tmp_path: Path) -> None:
    text = '[server]\npreset = "cascade-lake-6234"\n[core]\nlfb = { entries = 12, refill = "12 ns" } # mine\n'
    server = load_server(write(tmp_path, "mine.toml", text))
    result = calibrate(server, [write(tmp_path, "stream.csv", "cores,GB/s\n1,8.2\n")])
    line = result.text(tmp_path / "new.toml").splitlines()[-1]
    assert re.fullmatch(r'lfb = \{ ?entries = 12, refill = "[\d.]+ ns" ?\} # mine; refill calibrated against .*', line)


def test_noise_is_not_taken_for_contradiction() -> None:
    noisy = [0.05, -0.06, 0.04, -0.05, 0.13, -0.03, 0.06]
    wrong = [0.01, -0.01, 0.02, -0.01, 0.13, -0.02, 0.01]
    row = Measurement("bandwidth", 10.0, Conditions(cores=1), "x.csv", "2")
    for misses, refused in ((noisy, False), (wrong, True)):
        logs = [math.log(10) - miss for miss in misses]
        arguments = ([row] * len(misses), logs, [0.02] * len(misses), 0.12, 1)
        if refused:
            with raises_code("implausible-data | 14 %", DataError):
                check_residuals(*arguments)
        else:
            check_residuals(*arguments)


def test_repeated_rows_within_noise_are_one_measurement(tmp_path: Path) -> None:
    data = write(tmp_path, "stream.csv", "cores,GB/s\n1,8.2\n1,8.3\n1,8.2\n")
    result = calibrate(SERVER, [data])
    assert len(result.measurements) == 1
    assert result.measurements[0].value == pytest.approx(8.233, abs=0.001)


def test_the_old_file_is_kept_but_for_the_values(tmp_path: Path) -> None:
    text = (
        '# mine\n[server]\npreset = "cascade-lake-6234"\n\n[core]\nlfb.refill = "12 ns"    # guessed\n'
        'issue = "0.3 ns" # known\n\n[ssd]\nbandwidth = "3 GB/s"\n'
    )
    server = load_server(write(tmp_path, "mine.toml", text))
    stream = write(tmp_path, "stream.csv", "cores,GB/s\n1,8.2\n")
    fio = write(tmp_path, "fio.csv", "rw,bs,iodepth,GB/s\nread,128k,64,10\n")
    new = calibrate(server, [stream, fio]).text(tmp_path / "new.toml")
    assert new.startswith('# mine\n[server]\npreset = "cascade-lake-6234"\n\n[core]\nlfb.refill = "')
    assert '\nissue = "0.3 ns" # known\n' in new
    assert "guessed" not in new
    drives = tomllib.loads(new)["ssd"]
    assert drives["write_bandwidth"] == "3 GB/s"
    assert quantity_value(drives["read_bandwidth"], "bandwidth") == pytest.approx(2.5e9, rel=0.02)
    _core.resolve(new, overrides=[PROBE])
