"""`hostnet filter`: its output, its files, and its errors."""

from __future__ import annotations

import gzip
import json
import lzma
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostnet import _core
from hostnet.filtering import CacheLevel, filter_trace, parse_level
from tests.support import Cli, assert_tells, complaint_of

REDIS = Path(__file__).parents[2] / "examples" / "traces" / "redis-get.lackey.xz"

SMALL = "I  04001000,4\n L 1fff000700,8\nI  04001004,4\n S 1fff000740,8\nI  04001008,4\n L 05000000,8\n"

WRONG = {
    "no caches": ((), "no caches: give --preset"),
    "size": (("--l1", "32K,8"), "--l1 '32K,8': must be a size and ways, such as 32KiB,8"),
    "ways": (("--l1", "32KiB"), "must be a size and ways"),
    "no whole sets": (("--llc", "24MiB,11"), "the nearest is 25165888 bytes"),
    "too many ways": (("--l1", "32KiB,64"), "64 ways: must be 1 to 32"),
    "replacement": (("--l1", "32KiB,8,plru"), 'did you mean "lru"?'),
    "format": (("--l1", "32KiB,8", "--format", "lackay"), '"lackay" is no format of traces: lackey,'),
    "other format": (("--l1", "32KiB,8", "--format", "dramsim3"), "small.lackey:1: "),
    "output format": (("--l1", "32KiB,8", "--output-format", "lackey"), "known are: ramulator, ramulator1, dramsim3"),
    "cache and l1": (("--l1", "32KiB,8", "--cache", "1MiB,8"), "--cache: names all levels by itself"),
    "nine levels": (("--cache", "4KiB,8") * 9, "9 levels of caches: must be 1 to 8"),
    "itself": (("--l1", "32KiB,8", "--output", "small.lackey"), "is the trace itself"),
    "folder": (("--l1", "32KiB,8", "--output", "missing/out.trace"), "name a file in a folder that exists"),
}


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    (tmp_path / "small.lackey").write_text(SMALL)
    return Cli(tmp_path)


def test_the_output_is_what_memory_reads(cli: Cli) -> None:
    for name in ("out.trace", "out.trace.gz", "out.trace.xz", "out.trace.zst"):
        done = cli("filter", "small.lackey", "--l1", "32KiB,8", "--output", name, "--json")
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert (summary["accesses"], summary["instructions"], summary["requests"]) == (3, 3, 3)
        assert summary["footprint_bytes"] == 8192
        ran = cli("memory", name, "--json", "--warmup", "0")
        assert json.loads(ran.stdout)["requests"]["reads"] == 3, ran.stderr
    assert (cli.folder / "out.trace").read_text() == "LD 0x700\nLD 0x740\nLD 0x1000\n"


def test_formats_of_the_output(cli: Cli) -> None:
    def out(*more: str) -> str:
        assert cli("filter", "small.lackey", "--l1", "64B,1", "--output", "out", *more).returncode == 0
        return (cli.folder / "out").read_text()

    expected = "0x700 READ 1\n0x740 READ 2\n0x1000 READ 3\n0x740 WRITE 3\n"
    assert out("--output-format", "dramsim3") == expected
    expected = "0x1fff000700 R\n0x1fff000740 R\n0x5000000 R\n0x1fff000740 W\n"
    assert out("--output-format", "ramulator1", "--keep-addresses") == expected


def test_the_table_has_a_row_per_level(cli: Cli) -> None:
    done = cli("filter", "small.lackey", "--l1", "32KiB,8", "--llc", "24.75MiB,11,qlru")
    assert done.returncode == 0, done.stderr
    assert "lackey, 3 accesses, 3 instructions (1.00 per access)" in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["LLC", "24.75", "MiB", "11", "3", "3", "100.0", "%", "0", "1000.00"] in rows


def test_a_preset_gives_the_caches_of_its_server(cli: Cli) -> None:
    done = cli("filter", "small.lackey", "--preset", "cascade-lake-6234", "--json")
    assert done.returncode == 0, done.stderr
    levels = [(row["level"], row["bytes"], row["ways"]) for row in json.loads(done.stdout)["levels"]]
    assert levels == [("L1", 2**15, 8), ("L2", 2**20, 16), ("LLC", 99 * 2**18, 11)]
    done = cli("filter", "small.lackey", "--preset", "cascade-lake-6234", "--llc", "2MiB,16", "--json")
    assert [row["bytes"] for row in json.loads(done.stdout)["levels"]] == [2**15, 2**20, 2**21]
    assert_tells(cli.fails("filter", "small.lackey", "--preset", "cascade-lake-6235"), "unknown-name")


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_with_its_place(cli: Cli, name: str) -> None:
    arguments, message = WRONG[name]
    done = cli("filter", "small.lackey", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert complaint_of(done.stderr)


@pytest.mark.parametrize("text", [SMALL + " L 0500", SMALL + "\x00\x01\n", "", "what\n", " L ffffffffffffffff,8\n"])
def test_a_wrong_trace_leaves_no_output(cli: Cli, text: str) -> None:
    (cli.folder / "bad.lackey").write_text(text)
    before = sorted(cli.folder.iterdir())
    done = cli("filter", "bad.lackey", "--l1", "64B,1", "--output", "out.trace")
    assert (done.returncode, sorted(cli.folder.iterdir())) == (2, before)
    assert done.stderr.startswith("error[malformed-file]: bad.lackey:")


def test_a_cut_file_is_told(cli: Cli) -> None:
    for name, whole in (("cut.gz", gzip.compress), ("cut.xz", lzma.compress)):
        packed = whole((SMALL * 1000).encode())
        (cli.folder / name).write_bytes(packed[:-9])
        done = cli("filter", name, "--l1", "32KiB,8", "--output", "out.trace")
        assert done.returncode == 2
        assert_tells(complaint_of(done.stderr), f"malformed-file | {name}")
        assert not (cli.folder / "out.trace").exists()


def test_a_missing_trace_is_told(cli: Cli) -> None:
    done = cli("filter", "missing.lackey", "--l1", "32KiB,8")
    assert done.returncode != 0
    assert "missing.lackey" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_redis_trace_misses_in_every_level() -> None:
    levels = [CacheLevel("L1", 2**15, 8), CacheLevel("L2", 2**18, 16), CacheLevel("LLC", 99 * 2**18, 11)]
    result = filter_trace(REDIS, levels)
    assert result.summary["format"] == "lackey"
    assert 200_000 < result.summary["accesses"] < 500_000
    first, second, last = result.summary["levels"]
    assert first["accesses"] > 5 * first["misses"] > 5 * second["misses"] > 5 * last["misses"] > 5000


@given(st.text(max_size=20) | st.from_regex(r"[0-9.]{1,4}(B|KiB|MiB)?,[0-9]{1,3}(,lru|,plru)?"))
@settings(max_examples=200)
def test_any_text_is_a_level_or_refused(text: str) -> None:
    with suppress(_core.ConfigError):
        level = parse_level("L1", text, "lru")
        assert (level.size >= 0, level.replacement) == (True, "lru")
