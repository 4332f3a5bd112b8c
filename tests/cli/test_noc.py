"""`hostnet noc`: its output, its inputs, and its errors."""

from __future__ import annotations

import gzip
import json
import lzma
import signal
from pathlib import Path
from typing import Any

import pytest

from hostnet import noc_alone
from hostnet.cli.noc_options import NocOptions
from hostnet.cli.noc_over import over_command
from hostnet.cli.show_noc import link_map
from tests.support import Cli, assert_tells, interrupted, status_of

SHORT = ("--cycles", "1k", "--warmup", "500")

KEYS = {
    "bound": ["link", "load", "rate"],
    "cycles": ["all", "drained", "measured", "warm_up"],
    "latency": ["network", "packet", "zero_load"],
    "noc": ["clock_ns", "columns", "flit_bytes", "link_gb_per_s", "nodes", "rows", "topology"],
    "packets": ["arrived", "drained", "flit_hops", "links_mean", "measured"],
    "rate": ["accepted", "accepted_gb_per_s", "accepted_least", "offered"],
    "saturation": ["backlog_after", "backlog_before", "saturated"],
    "speed": ["cpu_s", "cycles_per_s", "flit_hops_per_cpu_s", "flit_hops_per_s", "wall_s"],
}
"""Tables of the JSON, and their keys. Programs rely on them."""

WRONG = {
    "traffic": (("--traffic", "unifrm"), 'unknown-name | --traffic unifrm | traffic.pattern | "unifrm"'),
    "rate": (("--rate", "1.5"), "out-of-range | --rate 1.5 | traffic.rate | 0.0001 to 1.0"),
    "no rate": (("--rate", "0"), "out-of-range | 0.0001 to 1.0"),
    "rate is no number": (("--rate", "nan"), "malformed-value | --rate nan | 0.5 | 50 %"),
    "one of several rates": (("--rate", "0.1,1.5"), "out-of-range | --rate 1.5 | traffic.rate"),
    "rates twice": (("--rate", "0.1,0.1"), "duplicate | --rate 0.1,0.1"),
    "rates and over": (("--rate", "0.1,0.2", "--over", "traffic.rate=0.3"), "duplicate | traffic.rate"),
    "packet flits": (("--packet-flits", "1025"), "out-of-range | 1 to 1024"),
    "hotspot that is no node": (("--hotspots", "3,64"), "does-not-exist | --hotspots 3,64 | traffic.hotspots"),
    "hotspots that are no list": (("--hotspots", "a"), "malformed-value | 27"),
    "hotspot without nodes": (("--traffic", "hotspot"), "requires-key | traffic.hotspots"),
    "hotspots of another pattern": (("--traffic", "uniform", "--hotspots", "1"), 'no-effect | "hotspot"'),
    "seed": (("--seed", str(2**64)), "out-of-range | 64"),
    "transpose": (("--traffic", "transpose", "--size", "4x8"), "must-agree"),
    "bits": (("--traffic", "bit-reverse", "--size", "6x6"), "must-agree | 36"),
    "size": (("--size", "8by8"), "malformed-value | --size 8by8"),
    "nodes of a mesh": (("--size", "16"), "no-effect | --size 16 | noc.nodes"),
    "columns of a ring": (("--topology", "ring", "--size", "4x4"), "no-effect | noc.columns"),
    "too large": (("--size", "33x32"), "out-of-range | --size 33x32 | noc.columns | 1 to 32"),
    "too small": (("--size", "1x1"), "out-of-range | at least 2 routers"),
    "topology": (("--topology", "mush"), 'unknown-name | "mesh"'),
    "routing": (("--routing", "yz"), "unknown-name"),
    "routing by message": (("--routing", "cdr"), 'not-supported | "xy" | "yx" | "o1turn"'),
    "routing of a ring": (("--topology", "ring", "--routing", "xy"), "no-effect"),
    "vcs": (("--vcs", "13"), "out-of-range | --vcs 13 | noc.vcs | 64"),
    "vcs of o1turn": (("--routing", "o1turn", "--vcs", "1"), "out-of-range | needs at least 2"),
    "vcs of a ring": (("--topology", "ring", "--vcs", "1"), "out-of-range | needs at least 2"),
    "vc flits": (("--vc-flits", "0"), "out-of-range | 1 to 255"),
    "cycles": (("--cycles", "0"), "out-of-range | --cycles 0 | run.measure | 1 to 1000000000"),
    "warmup": (("--warmup", "2G"), "out-of-range | 0 to 1000000000"),
    "set": (("--set", "noc.router.reuse=later"), "unknown-name | tail-sent, drained"),
    "over": (("--over", "noc.vcs=1,65"), "out-of-range | --over noc.vcs=65"),
    "over what is given": (("--vcs", "2", "--over", "noc.vcs=1,4"), "conflicting-keys | --vcs 2 | --over noc.vcs"),
    "page in no folder": (("--html", "nowhere/x.html"), "file-access | --html nowhere/x.html"),
}
"""A wrong value for each option, and a part of the rule in its error."""

TRACES = {
    "back in time": ("5 0 1 1\n4 0 1 1\n", 'malformed-file | x.txt:2 | "4"'),
    "truncated": ("0 0 1 1\n0 0\n", 'malformed-file | x.txt:2 | "0 0"'),
    "beyond the mesh": ("# a comment\n0 0 64 1\n", 'malformed-file | x.txt:2 | "64" | 0 to 63'),
    "no flits": ("0 0 1 0\n", 'malformed-file | "0"'),
    "another class": ("0 0 1 1 1\n", 'malformed-file | "1" | 0 to 0'),
    "text": ("zero 0 1 1\n", 'malformed-file | x.txt:1 | "zero"'),
    "empty": ("# nothing\n", "malformed-file | x.txt"),
}


@pytest.fixture
def noc(cli: Cli) -> Cli:
    """Returns the command in an empty folder."""
    cli.file.unlink()
    return cli


def summary_of(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    done = cli("noc", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    content: dict[str, Any] = json.loads(done.stdout)
    return content


def test_the_page_fits_100_columns_and_says_what_was_simulated(noc: Cli) -> None:
    done = noc("noc", *SHORT, "--rate", "30%", "--packet-flits", "5", "--routing", "o1turn")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("mesh 8x8, o1turn, 4 virtual channels of 8 flits, speculative allocation")
    assert lines[1].startswith("uniform, 0.3 flits/node/cycle, packets of 5 flits, seed 1; ")
    assert max(map(len, lines)) <= 100
    for word in ("offered", "accepted", "a link full at", "P99", "the same packets alone", "fullest links", "o--"):
        assert word in done.stdout
    assert noc.entries() == []


def test_the_map_shows_the_fuller_direction_of_two(noc: Cli) -> None:
    (noc.folder / "x.txt").write_text("".join(f"{cycle} 0 2 1\n" for cycle in range(100)))
    summary = summary_of(noc, "x.txt", "--size", "3x2", "--cycles", "100")
    there = {row["link"]: row["busy_share"] for row in summary["links"]}
    assert 0.9 < there["(0, 0) -> (1, 0)"] < 1
    assert there["(1, 0) -> (0, 0)"] == 0
    first, second = (f"{100 * there[link]:.0f}" for link in ("(0, 0) -> (1, 0)", "(1, 0) -> (2, 0)"))
    assert link_map(summary) == [f"o--{first}--o--{second}--o", "0      0      0", "o--0---o--0---o"]


def test_the_json_has_its_keys(noc: Cli) -> None:
    summary = summary_of(noc, *SHORT)
    assert {key: sorted(summary[key]) for key in KEYS} == KEYS
    assert set(summary) == {*KEYS, "complete", "config", "config_hash", "format", "links", "result_hash"}
    assert (summary["format"], summary["complete"]) == (1, True)
    assert len(summary["links"]) == 64 + 2 * 2 * 7 * 8


def test_several_rates_are_a_row_each_and_equal_to_single_runs(noc: Cli) -> None:
    over = ("--rate", "0.1,30%", "--over", "noc.vcs=1..2")
    done = noc("noc", *SHORT, *over)
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("0.")]
    assert [row[:2] for row in rows] == [["0.1", "1"], ["0.1", "2"], ["0.3", "1"], ["0.3", "2"]]
    assert max(map(len, done.stdout.splitlines())) <= 100
    points = json.loads(noc("noc", *SHORT, *over, "--json").stdout)
    assert [point["over"] for point in points] == [
        {"traffic.rate": rate, "noc.vcs": vcs} for rate in (0.1, 0.3) for vcs in (1, 2)
    ]
    single = summary_of(noc, *SHORT, "--rate", "0.3", "--vcs", "2")
    assert single["result_hash"] == points[3]["result_hash"]


def test_a_page_is_written_whole(noc: Cli) -> None:
    for options in (("--rate", "0.2"), ("--rate", "0.1,0.2")):
        done = noc("noc", *SHORT, *options, "--html", "x.html")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[-1] == "x.html"
        assert noc.entries() == [noc.folder / "x.html"]
        assert (noc.folder / "x.html").read_text().endswith("</html>\n")


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_option_is_named_with_its_rule(noc: Cli, name: str) -> None:
    arguments, rule = WRONG[name]
    assert_tells(noc.fails("noc", *arguments), rule)
    assert noc.entries() == []


@pytest.mark.parametrize("name", TRACES)
def test_a_wrong_trace_is_named_with_its_line(noc: Cli, name: str) -> None:
    content, rule = TRACES[name]
    (noc.folder / "x.txt").write_text(content)
    assert_tells(noc.fails("noc", "x.txt"), rule)


def test_a_trace_takes_no_description(noc: Cli) -> None:
    (noc.folder / "x.txt").write_text("0 0 1 1\n")
    for option in (("--traffic", "uniform"), ("--rate", "0.3"), ("--packet-flits", "5"), ("--hotspots", "1")):
        assert_tells(noc.fails("noc", "x.txt", *option), f"conflicting-keys | {option[0]} | {option[1]}")
    assert_tells(noc.fails("noc", "nowhere"), "file-not-found | nowhere")


def test_a_trace_may_be_compressed_and_cut_short_is_told(noc: Cli) -> None:
    content = b"".join(b"%d %d %d 2\n" % (cycle, cycle % 64, 63 - cycle % 64) for cycle in range(300))
    hashes = set()
    for name, packed in (("x.txt", content), ("x.gz", gzip.compress(content)), ("x.xz", lzma.compress(content))):
        (noc.folder / name).write_bytes(packed)
        summary = summary_of(noc, name)
        assert summary["packets"]["arrived"] == 300
        hashes.add(summary["result_hash"])
    assert len(hashes) == 1
    (noc.folder / "x.gz").write_bytes(gzip.compress(content)[:-200])
    assert_tells(noc.fails("noc", "x.gz"), "malformed-file | is cut short")


def test_a_configuration_is_refined_and_its_errors_have_lines(noc: Cli) -> None:
    (noc.folder / "c.toml").write_text('[noc]\ncolumns = 4\n\n[traffic]\npattern = "transpose"\n')
    assert_tells(noc.fails("noc", "--config", "c.toml"), "must-agree | c.toml:5 | traffic.pattern")
    summary = summary_of(noc, "--config", "c.toml", "--set", "noc.rows=4", "--rate", "0.05", *SHORT)
    assert (summary["noc"]["nodes"], summary["config"]["traffic"]["pattern"]) == (16, "transpose")
    (noc.folder / "again.json").write_text(json.dumps(summary["config"]))
    assert summary_of(noc, "--config", "again.json")["result_hash"] == summary["result_hash"]


def test_hotspots_imply_their_pattern(noc: Cli) -> None:
    summary = summary_of(noc, *SHORT, "--hotspots", "27, 36", "--rate", "0.01")
    assert summary["config"]["traffic"]["hotspots"] == [27, 36]
    assert summary["bound"]["rate"] == pytest.approx(2 / 64)
    arrived = {row["link"] for row in summary["links"] if row["to_node"] and row["flits"]}
    assert len(arrived) == 2


def test_ctrl_c_shows_what_was_measured_so_far(noc: Cli) -> None:
    process = noc.start("noc", "--cycles", "1G", "--rate", "0.2")
    assert "packets/s" in status_of(process, "packets/s")
    shown, said = interrupted(process)
    assert process.returncode == 130
    assert "what was measured so far is being kept" in said
    assert "note: stopped before its end" in shown
    assert "This run does not show whether the network is saturated" in shown


def test_ctrl_c_between_runs_ends_them(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run, begun = noc_alone.run_plan, []

    def followed(plan: Any, **_more: Any) -> noc_alone.NocResult:
        begun.append(plan)
        signal.raise_signal(signal.SIGINT)
        return run(plan)

    monkeypatch.setattr(noc_alone, "run_plan", followed)
    assert over_command(NocOptions(cycles="100", json=True, over=("noc.vcs=1..3",))) == 130
    assert len(begun) == 1
    assert len(json.loads(capsys.readouterr().out)) == 1
