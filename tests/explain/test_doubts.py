"""If a prediction is far off, both numbers are in the sentence, with their source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import hostnet
from hostnet.explanation import explain_counters
from hostnet.explanation.doubts import CONFIGURATION, CORES_ALONE, NOT_COVERED, NOT_MEASURED, RUN, add_doubt
from hostnet.report.numbers import number

NUMBERS = re.compile(r"\d+\.\d+")

rates = st.floats(0.1, 999.0)


def row(predicted: tuple[float, float], measured: tuple[float, float], kind: str = "stream") -> dict[str, Any]:
    """Returns the explanation of a workload by the core, with its throughput and the latency of its lines."""
    limits = {"predicted_gb_per_s": predicted[0], "predicted_latency_ns": predicted[1]}
    return {
        "kind": kind,
        "domain": "C2M-Read",
        "gb_per_s": measured[0],
        "pools": [{"domain": "C2M-Read", "latency_ns": measured[1]}],
        "limited": f"may be limited by LFB (not known for sure: the prediction is {predicted[0]:.3f} GB/s)",
        "limits": limits,
    }


@given(st.tuples(rates, rates), st.tuples(rates, rates), st.sampled_from([RUN, CONFIGURATION, CORES_ALONE]))
def test_what_is_further_off_is_told_in_three_digits(
    predicted: tuple[float, float], measured: tuple[float, float], words: str
) -> None:
    told = add_doubt(row(predicted, measured), words)["limited"]
    off = [abs(then / now - 1) for then, now in zip(predicted, measured, strict=True)]
    worse = off.index(max(off))
    unit = ("GB/s", "ns a line")[worse]
    assert words.format(predicted=f"{number(predicted[worse])} {unit}", measured=number(measured[worse])) in told
    assert all(len(found.replace(".", "").lstrip("0")) <= 3 for found in NUMBERS.findall(told))


def test_of_devices_nobody_says_that_the_server_is_not_covered() -> None:
    text = f"may be limited by P2M-Write (not known for sure: {NOT_COVERED})"
    cases = [("fio", CORES_ALONE, NOT_MEASURED), ("stream", CORES_ALONE, NOT_COVERED), ("fio", RUN, NOT_COVERED)]
    for kind, words, told in cases:
        assert told in add_doubt({**row((1, 1), (1, 1), kind), "limits": None, "limited": text}, words)["limited"]


def test_counters_of_a_preset_say_what_was_predicted(tmp_path: Path) -> None:
    load = {"kind": "stream", "cores": "0-5", "reads": 0.0}
    jobs = [{"rw": "read", "bs": "128 KiB", "iodepth": 32, "size": "1 GiB", "ssd": drive} for drive in range(4)]
    config = {
        "server": {"preset": "cascade-lake-6234"},
        "workload": {"load": load, "disk": {"kind": "fio", "jobs": jobs}},
        "run": {"duration": "60 us"},
    }
    file = tmp_path / "counters.csv"
    hostnet.counters.write(hostnet.run(config, counters="30 us"), file, form="perf")
    cores, devices = explain_counters(file, "cascade-lake-6234").explanation["workloads"]
    assert "without devices" in cores["limited"]
    assert number(cores["limits"]["predicted_gb_per_s"]) in cores["limited"]
    assert number(cores["gb_per_s"]) in cores["limited"]
    assert (devices["kind"], NOT_MEASURED in devices["limited"]) == ("fio", True)
