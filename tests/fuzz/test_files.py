"""Any file is read or refused: traces, commands, counters, topologies, captures, measurements."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from tests.counters.support import BASIC, perf
from tests.counters.test_read import PCM
from tests.fuzz.support import SHORT, Hostile, examples, mutated
from tests.hwloc.machines import ONE_SOCKET, VERSION_1
from tests.support import Cli

LACKEY = "".join(f"I  0400{line:04x},4\n L {64 * line:x},8\n S {64 * line + 8:x},8\n M 1000,4\n" for line in range(20))
RAMULATOR = "".join(f"LD {4096 * line}\nST 0x{64 * line:x}\n" for line in range(20))
DRAMSIM = "".join(f"0x{4096 * line:x} READ {3 * line}\n" for line in range(20))
PACKETS = "".join(f"{7 * line} {line} {line % 7} {1 + line % 5}\n" for line in range(20))
MEASURED = "cores,GB/s\n1,9.1\n2,17.2\n4,31.0\n"
FIO = json.dumps(
    {
        "fio version": "fio-3.36",
        "global options": {"bs": "64k", "iodepth": "16", "filename": "/dev/nvme0n1"},
        "jobs": [{"jobname": "a", "job options": {"rw": "read"}, "read": {"bw_bytes": 3_400_000_000}}],
    },
    indent=1,
)
MLC = """\
Intel(R) Memory Latency Checker - v3.11b
Command line parameters: --loaded_latency -k1-3
Measuring idle latencies (in ns)...
Numa node     0
       0   82.2

Using Read-only traffic type
Delay   (ns)    MB/sec
==========================
 00000   92.00  25000.0
"""
STREAM = """\
STREAM version $Revision: 5.10 $
Array size = 100000000 (elements), Offset = 0 (elements)
Number of Threads counted = 4
Function    Best Rate MB/s  Avg time
Copy:           25610.2     0.062566
Triad:          27330.7     0.087930
"""
ONE_SHOT = """\
1024.25,MiB,uncore_imc/cas_count_read/,6004000000,100.00,,
20.5,MiB,uncore_imc/cas_count_write/,6004000000,100.00,,
1000000000,ns,duration_time,1000000000,100.00,,
"""
JOBS = "[global]\nbs=64k\niodepth=16\nsize=1g\n[a]\nrw=read\nfilename=/dev/nvme0n1\n[b]\nrw=randwrite\nrwmixread=30\n"

SERVER = 'server.preset = "cascade-lake-6234"\ncache.enabled = true\n[workload.w]\n'
TRACED = f'{SERVER}kind = "app"\napp = "trace"\ncores = "0"\nfile = "x"\n'
WITH_JOBS = f'{SERVER}kind = "fio"\njob = "x"\n'
REPLAYED = """\
[host.a]
kind = "endpoint"
[host.b]
kind = "endpoint"
[flow.f]
kind = "replay"
from = "a"
to = "b"
pcap = "x"
"""
RECORDED = REPLAYED.replace("replay", "bulk").replace('pcap = "x"\n', "")

FITTED = ("calibrate", "cascade-lake-6234", "--engine", "predict", "--data", "x")

READERS = {
    "lackey": (LACKEY, "", ("filter", "x", "--l1", "4KiB,4")),
    "lackey to requests": (LACKEY, "", ("filter", "x", "--l1", "4KiB,4", "--output", "y")),
    "ramulator": (RAMULATOR, "", ("memory", "x")),
    "dramsim3": (DRAMSIM, "", ("memory", "x", "--json")),
    "packets": (PACKETS, "", ("noc", "x", "--json")),
    "trace of an application": (LACKEY, TRACED, ("run", "c.toml", *SHORT)),
    "job file": (JOBS, WITH_JOBS, ("run", "c.toml", *SHORT)),
    "perf": (perf(*BASIC), "", ("counters", "read", "x")),
    "perf without intervals": (ONE_SHOT, "", ("counters", "read", "x", "--server", "cascade-lake-6234")),
    "perf explained": (perf(*BASIC), "", ("explain", "x", "--server", "cascade-lake-6234", "--brief")),
    "pcm": (PCM, "", ("counters", "read", "x", "--json")),
    "hwloc 2": (ONE_SOCKET, "", ("import", "x")),
    "hwloc 1": (VERSION_1, "", ("import", "x")),
    "table": (MEASURED, "", FITTED),
    "fio": (FIO, "", FITTED),
    "MLC": (MLC, "", FITTED),
    "STREAM": (STREAM, "", FITTED),
}
"""Files "x", a configuration "c.toml" that names each, and a command that reads it."""


def fuzz(hostile: Hostile, content: bytes, config: str, arguments: tuple[str, ...], few: int = 5) -> None:
    @examples(few)
    @given(mutated(content))
    def holds(changed: bytes) -> None:
        hostile.empty()
        hostile.write("x", changed)
        hostile.write("c.toml", config)
        hostile(*arguments)

    holds()


@pytest.mark.parametrize("name", READERS)
def test_changed_files_are_read_or_refused(hostile: Hostile, name: str) -> None:
    text, config, arguments = READERS[name]
    hostile.empty()
    hostile.write("x", text)
    hostile.write("c.toml", config)
    assert hostile(*arguments).code in (0, 130), "as it is, it is read, if perhaps stopped before it is fitted"
    fuzz(hostile, text.encode(), config, arguments)


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".zst"])
def test_changed_commands_are_read_or_refused(hostile: Hostile, cli: Cli, suffix: str) -> None:
    name = f"commands{suffix}"
    assert cli("memory", "--requests", "50", "--commands", name).returncode == 0
    fuzz(hostile, (cli.folder / name).read_bytes(), "", ("memory", "check", "x"), few=3)


def test_changed_captures_are_read_or_refused(hostile: Hostile, cli: Cli) -> None:
    (cli.folder / "recorded.toml").write_text(RECORDED)
    short = ("--set", "run.warmup=0 us", "--set", "run.duration=20 us")
    done = cli("run", "recorded.toml", *short, "--pcap", "x", "--pcap-host", "b")
    assert done.returncode == 0, done
    content = (cli.folder / "x").read_bytes()
    assert len(content) > 200
    hostile.empty()
    hostile.write("x", content)
    hostile.write("c.toml", REPLAYED)
    assert hostile("run", "c.toml", *short).code == 0
    fuzz(hostile, content, REPLAYED, ("run", "c.toml", *short), few=10)
