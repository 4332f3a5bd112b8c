"""Counters of UPI and of the DRAM that serves the cores: in files, and in runs of several sockets."""

from __future__ import annotations

from pathlib import Path

import pytest

import hostnet
from hostnet import ConfigError, counters
from hostnet.counters.crossing import Direction
from hostnet.explanation import explain_counters
from tests.counters.support import BASIC, file, perf, read

TICKS = 1_300_000_000
"""Clocks of a link of 10.4 GT/s per second."""

LINE, OTHER = 9, 1
"""Slots of a line, and of a message without a line."""


def upi(link: int, sent: int, received: int = 0, others: int = 0) -> tuple[str, ...]:
    """Returns the rows of a link: lines sent and received, and messages without a line in both directions."""
    unit = f" [uncore_upi_{link}]"
    return (
        f"UNC_UPI_CLOCKTICKS{unit}={TICKS}",
        f"UNC_UPI_TxL_FLITS.ALL_DATA{unit}={LINE * sent}",
        f"UNC_UPI_TxL_FLITS.NON_DATA{unit}={OTHER * others}",
        f"UNC_UPI_RxL_FLITS.ALL_DATA{unit}={LINE * received}",
        f"UNC_UPI_RxL_FLITS.NON_DATA{unit}={OTHER * others}",
    )


def dram(local: int, remote: int) -> tuple[str, str]:
    names = ("MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", "mem_load_l3_miss_retired.remote_dram")
    return f"{names[0]}={local}", f"{names[1]}={remote}"


def test_each_link_and_direction_is_told(tmp_path: Path) -> None:
    rows = (*BASIC, *upi(0, 100_000_000, 20_000_000, 50_000_000), *upi(1, 0), *dram(300, 100))
    found = read(tmp_path, perf(*rows))
    busy, idle = found.links
    assert (busy.name, idle.name) == ("uncore_upi_0", "uncore_upi_1")
    assert busy.sent.line_gb_per_s == pytest.approx(100_000_000 * 64 / 1e9)
    assert busy.sent.busy_share == pytest.approx((900_000_000 + 50_000_000) / (2.5 * TICKS))
    assert busy.received.busy_share == pytest.approx((180_000_000 + 50_000_000) / (2.5 * TICKS))
    assert idle.sent == idle.received == Direction(0.0, 0.0)
    assert found.numa is not None
    assert found.numa.remote_share == 0.25
    said = "; ".join(found.crossing)
    assert "lines cross between sockets: the links of this file send 6.4 GB/s" in said
    assert "of the loads that DRAM served, 25.0 % went to that of other sockets" in said
    assert "the fullest direction is that in which uncore_upi_0 sends: 29.2 % of its slots" in said
    assert "Whether UPI limits anything these counters do not tell" in said


def test_counts_of_all_intervals_are_added_up(tmp_path: Path) -> None:
    rows = (*BASIC, *upi(0, 100_000_000))
    found = read(tmp_path, *(perf(*rows, stamp=f"{at}.000000000") for at in (1, 2, 3)))
    assert found.links[0].sent.line_gb_per_s == pytest.approx(6.4)
    assert found.links[0].sent.busy_share == pytest.approx(900_000_000 / (2.5 * TICKS))


def test_sums_over_links_need_their_clocks(tmp_path: Path) -> None:
    rows = ("UNC_UPI_TxL_FLITS.ALL_DATA=1800", "UNC_UPI_TxL_FLITS.NON_DATA=2", *BASIC)
    found = read(tmp_path, perf(*rows))
    assert found.links[0].sent.busy_share is None
    assert found.links[0].received == Direction(None, None)
    assert "how full the links are cannot be computed" in found.crossing[-1]
    with_clocks = read(tmp_path, perf(*rows, f"UNC_UPI_CLOCKTICKS={3 * TICKS}"))
    assert with_clocks.links[0].sent.busy_share == pytest.approx(1802 / (2.5 * 3 * TICKS))
    single = perf(
        "UNC_UPI_TxL_FLITS.ALL_DATA [uncore_upi_0]=1800", "UNC_UPI_TxL_FLITS.NON_DATA [uncore_upi_0]=0", *BASIC
    )
    assert read(tmp_path, single).links[0].sent.busy_share == pytest.approx(1800 / (2.5 * TICKS))


def test_what_was_not_counted_is_not_known(tmp_path: Path) -> None:
    text = perf(*BASIC, *upi(0, 100)).replace("900,,UNC_UPI_TxL", "<not counted>,,UNC_UPI_TxL")
    found = read(tmp_path, text)
    assert found.links[0].sent == Direction(None, None)
    assert found.links[0].received == Direction(0.0, 0.0)


def test_nothing_is_said_of_files_without_such_counters(tmp_path: Path) -> None:
    found = read(tmp_path, perf(*BASIC))
    assert (found.links, found.numa, found.crossing) == ([], None, [])
    assert not any("UPI" in str(missing) for missing in found.missing)
    quiet = read(tmp_path, perf(*BASIC, *upi(0, 0), *dram(10, 0)))
    assert quiet.crossing == ["no lines cross between sockets"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            upi(0, 400_000_000),
            ":1: UNC_UPI_TxL_FLITS.ALL_DATA and UNC_UPI_TxL_FLITS.NON_DATA of uncore_upi_0 count 3.6e+09",
        ),
        (("UNC_UPI_TxL_FLITS.ALL_DTA [uncore_upi_0]=1",), "the nearest is UNC_UPI_TxL_FLITS.ALL_DATA"),
        (("UNC_UPI_CLOCKTICKS [uncore_imc_0]=1",), "UNC_UPI_CLOCKTICKS is no event of uncore_imc_0"),
        (("UNC_UPI_CLOCKTICKS [uncore_upi_0]=1000",), "UNC_UPI_CLOCKTICKS of uncore_upi_0 counts 1000 clocks"),
        (("UNC_UPI_TxL_FLITS.ALL_DATA [uncore_upi_0]=-9",), '"-9" is negative'),
        (("MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM=0.5",), '"0.5" is no whole number'),
    ],
)
def test_impossible_counts_are_refused(tmp_path: Path, rows: tuple[str, ...], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        read(tmp_path, perf(*rows, *BASIC))
    assert message in str(error.value)
    assert "counters.csv:" in str(error.value)


NUMA = """Time elapsed: 1000 ms
Core,IPC,Instructions,Cycles,Local DRAM accesses,Remote DRAM accesses\x20
0,1.20,1200,1000,600,200,
1,nan,0,0,0,0,
*,1.20,1200,1000,600,200,

"""


def test_tables_of_pcm_numa_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, "Update every 1 seconds\n", NUMA, NUMA.replace("600", "200"))
    assert (found.format, len(found.windows)) == ("pcm-numa", 2)
    assert found.numa is not None
    assert (found.numa.local, found.numa.remote) == (800, 400)
    assert found.crossing[1] == "of the accesses of cores that DRAM served, 33.3 % went to that of other sockets"
    assert found.missing == []
    assert found.total["window_ns"] == 2e9


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Time elapsed: 1000 ms\n", "", ':1: the line "Time elapsed: ... ms" must come before the table'),
        ("600,200,\n1", "600\n1", ":3: has 5 columns, 6 are needed; is the file truncated?"),
        ("0,1.20,1200,1000,600", "x,1.20,1200,1000,600", ':3: "x" is no number of a core'),
        ("1,nan", "0,nan", ":4: core 0 stands twice in one interval"),
        ("600,200,\n1", "-600,200,\n1", ':3: "-600" is negative: Local DRAM accesses is a count'),
        ("600,200,\n1", "600,2e99,\n1", ':3: "2e99" is more than a counter can hold'),
        ("600,200,\n1", "600,1 K,\n1", ':3: "1 K" is no number: Remote DRAM accesses is a count'),
        ("0,1.20,1200,1000,600,200,\n1,nan,0,0,0,0,\n", "", ":1: the interval that begins here has no cores"),
        ("1000 ms", "0 ms", ":1: the interval has no length"),
        (
            "Core,IPC,Instructions,Cycles,Local DRAM accesses,Remote DRAM accesses",
            "Core | IPC  | Instructions | Cycles  |  Local DRAM accesses | Remote DRAM Accesses",
            ":2: a table for people, whose counts are rounded; pcm-numa -csv tells them whole",
        ),
    ],
)
def test_damaged_tables_of_pcm_numa_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in NUMA
    with pytest.raises(ConfigError) as error:
        read(tmp_path, NUMA.replace(old, new, 1))
    assert f"counters.csv{message}" in str(error.value)


SERVER = '[server]\npreset = "cascade-lake-6234"\nsockets = {count}\n[run]\nwarmup = "10 us"\nduration = "40 us"\n'
STREAM = (
    '[workload.{name}]\nkind = "stream"\ncores = "{cores}"\nmemory = "{memory}"\nreads = 0.5\nworking_set = "8 MiB"\n'
)
DISK = '[workload.disk]\nkind = "fio"\njobs = [{ rw = "rw", bs = "64 KiB", iodepth = 8, size = "8 MiB", ssd = 5 }]\n'


def run(folder: Path, *parts: str, count: int = 2) -> hostnet.Results:
    path = folder / "server.toml"
    path.write_text(SERVER.format(count=count) + "".join(parts))
    return hostnet.run(path, counters="15 us")


def written(results: hostnet.Results, folder: Path, form: str, **options: bool) -> Path:
    path = folder / f"{form}.csv"
    counters.write(results, path, form=form, **options)
    return path


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("form", ["perf", "pcm"])
def test_what_a_run_sends_over_upi_is_counted(tmp_path: Path, count: int, form: str) -> None:
    results = run(tmp_path, STREAM.format(name="s", cores=f"0-1,{8 * count - 2}", memory="interleave"), count=count)
    path = written(results, tmp_path, form, per_socket=form == "perf")
    found = counters.read(path, socket=0)
    window_ns = results.summary["window_ns"]
    for socket in range(count):
        links = [link for link in found.links if link.socket == str(socket)]
        assert len(links) == (2 * (count - 1) if form == "pcm" else 1), "two links to each other socket"
        for way, ends in (("sent", (socket, None)), ("received", (None, socket))):
            rows = [
                row for pair, row in results.upi.items() if ends[0] in (None, pair[0]) and ends[1] in (None, pair[1])
            ]
            told = sum(getattr(link, way).line_gb_per_s for link in links)
            assert told == pytest.approx(sum(row["lines"] for row in rows) * 64 / window_ns, rel=1e-9)
            shares = [getattr(link, way).busy_share for link in links]
            simulated = sum(row["busy_share"] for row in rows) / len(rows)
            assert sum(shares) / len(shares) == pytest.approx(0.8 * simulated, rel=1e-3), "16 of 20 lanes"


@pytest.mark.parametrize(("memory", "far"), [("local", (0, 0)), ("node:0", (0, 1)), ("interleave", (0.5, 0.5))])
def test_which_dram_serves_the_cores_is_counted(tmp_path: Path, memory: str, far: tuple[float, float]) -> None:
    results = run(tmp_path, STREAM.format(name="s", cores="0-1,8-9", memory=memory), DISK)
    reads = {row["part"]: row["lines"] for row in results.rows("domains") if row["domain"] == "C2M-Read"}
    of_sockets = (reads["core 0"] + reads["core 1"], reads["core 8"] + reads["core 9"])
    found = counters.read(written(results, tmp_path, "pcm-numa")).numa
    assert found is not None
    wanted = sum(share * lines for share, lines in zip(far, of_sockets, strict=True))
    assert found.remote == pytest.approx(wanted, rel=0.06, abs=1)
    assert found.local + found.remote == pytest.approx(sum(of_sockets), rel=0.02), "without the kernel's work"
    for socket, share in enumerate(far):
        alone = counters.read(written(results, tmp_path, "pcm"), socket=socket).numa
        assert alone is not None
        assert alone.remote_share == pytest.approx(share, abs=0.06)


def test_sockets_of_a_file_add_up_to_the_server(tmp_path: Path) -> None:
    own = "[socket.1]\nmemory.channels = 3\ncore.count = 6\n"
    results = run(tmp_path, own, STREAM.format(name="s", cores="1,8-10", memory="interleave"), DISK)
    summary = results.summary["counters"]
    (tmp_path / "whole.toml").write_text(SERVER.format(count=2) + own + DISK)
    for form in ("perf", "pcm"):
        path = written(results, tmp_path, form, per_socket=form == "perf")
        both = [counters.read(path, tmp_path / "whole.toml", socket=socket) for socket in (0, 1)]
        assert [one.total["channels"] for one in both] == [2, 3]
        for name in ("lines_read", "lines_written", "read_activations"):
            assert sum(one.total[name] for one in both) == summary[name]
        for flow in ("lfb", "core_read", "core_write", "io_write"):
            assert sum(one.total[flow]["lines"] for one in both) == summary[flow]["lines"]
            occupancy = sum(one.total[flow]["occupancy"] for one in both)
            assert occupancy == pytest.approx(summary[flow]["occupancy"], rel=2e-3, abs=2e-3)


def test_single_units_are_read_by_the_first_core_of_their_socket(tmp_path: Path) -> None:
    bare = "[socket.1]\ncore.count = 0\nssd.count = 0\n"
    results = run(tmp_path, bare, STREAM.format(name="s", cores="0-1", memory="node:2"), count=3)
    text = written(results, tmp_path, "perf").read_text()
    for row in ("CPU0,", "CPU8,"):
        assert any(row in line and "[uncore_upi_0]" in line for line in text.splitlines())
    readers = {line.split(",")[1] for line in text.splitlines() if "[uncore_imc_" in line}
    assert readers == {"CPU0", "CPU8"}, "perf has no CPU to read the socket without cores with"
    shares = counters.read(written(results, tmp_path, "pcm"), socket=0)
    assert {link.socket for link in shares.links} == {"0", "1", "2"}


CLUSTER = """[host.server]
preset = "broadwell-r730"
cache.enabled = true
nic.ddio = true
nic.functions = [{ socket = 0 }, { socket = 1 }]
socket.1.memory.channels = 2
workload.s = { kind = "stream", cores = "1,15", memory = "interleave", pattern = "random" }
[host.client]
kind = "endpoint"
[network]
topology = "direct"
[flow.file]
kind = "bulk"
from = "server"
to = "client"
from_cores = "0"
sendfile = "node:1"
[run]
warmup = "100 us"
duration = "100 us"
"""


@pytest.mark.parametrize("form", ["perf", "pcm"])
def test_a_host_of_a_cluster_has_the_units_of_each_of_its_sockets(tmp_path: Path, form: str) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(CLUSTER)
    results = hostnet.run_cluster(file, counters="30 us")
    path = written(results, tmp_path, form, per_socket=form == "perf")
    alone = tmp_path / "alone.toml"
    alone.write_text(
        '[server]\npreset = "broadwell-r730"\n[socket.1]\nmemory.channels = 2\n'
        '[workload.s]\nkind = "stream"\ncores = "1"\n'
    )
    both = [counters.read(path, alone, socket=socket) for socket in (0, 1)]
    assert [one.total["channels"] for one in both] == [4, 2]
    server = results.summary["servers"]["server"]
    for name in ("lines_read", "lines_written"):
        assert sum(one.total[name] for one in both) == server["counters"][name]
    links = [link for link in both[0].links if link.socket == "0"]
    sent, received = (sum(getattr(link, way).line_gb_per_s for link in links) for way in ("sent", "received"))
    told = {(row["from"], row["to"]): row["line_gb_per_s"] for row in server["upi"]}
    assert (sent, received) == (pytest.approx(told[0, 1]), pytest.approx(told[1, 0]))
    assert received > 1.5 * sent, "the file crosses on its way to the function of the queue"


def test_a_server_of_one_socket_counts_what_it_counted_before(tmp_path: Path) -> None:
    results = run(tmp_path, '[workload.s]\nkind = "stream"\ncores = "0"\n', count=1)
    assert "UPI" not in written(results, tmp_path, "pcm").read_text()
    numa = counters.read(written(results, tmp_path, "pcm-numa")).numa
    assert numa is not None
    assert (numa.remote, numa.local) == (0, results.summary["counters"]["core_read"]["lines"])


def test_an_explanation_says_that_lines_cross_and_claims_no_limit(tmp_path: Path) -> None:
    rows = ("L1D_PEND_MISS.PENDING=13200000000", "L1D.REPLACEMENT=100000000", "CPU_CLK_UNHALTED.THREAD=3300000000")
    path = file(tmp_path, perf(*BASIC, *rows, *upi(0, 100_000_000)))
    page = explain_counters(path, "cascade-lake-6234")
    said = [note for note in page.notes if "lines cross between sockets" in note or "of its slots are in use" in note]
    assert len(said) == 2
    assert not any("UPI" in binding.limited_by for binding in getattr(page.explanation, "workloads", ()))


def test_the_recording_command_has_the_events() -> None:
    for uarch in counters.uarchs().values():
        command = counters.perf_command(uarch)
        for event in ("UNC_UPI_CLOCKTICKS", "UNC_UPI_TxL_FLITS.ALL_DATA", "UNC_UPI_RxL_FLITS.NON_DATA"):
            assert f"-e '{event}'" in command
        assert "MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM" in command
