"""The pages about clusters agree with the program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import hostnet
from hostnet import _core
from tests.docs.reference import ROOT, documented

TABLES = (
    *("classes", "flows", "latencies", "latency_histogram", "hosts", "memory", "queues", "control", "limits", "series"),
)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> hostnet.ClusterResults:
    """Returns the cluster of the template with a short run."""
    file = tmp_path_factory.mktemp("cluster") / "cluster.toml"
    text = _core.cluster_template("hostcc")
    file.write_text(re.sub(r'(duration|warmup) = ".*"', r'\1 = "200 us"', text), encoding="utf-8")
    return hostnet.run_cluster(file, series="50 us")


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_documented_in_its_order(short: hostnet.ClusterResults, table: str) -> None:
    columns = documented("clusters.md", f"### {table}")
    assert list(columns) == short.tables[table].column_names
    assert all(len(cells) == 2 and cells[0] for cells in columns.values())


def test_every_column_of_stages_is_documented() -> None:
    hosts = {"e": hostnet.Host(kind="endpoint", count=2)}
    flow = hostnet.Flow(kind="datagram", pattern="ping", from_="e-0", to="e-1", request="1 kB")
    cluster = hostnet.Cluster(host=hosts, flow={"f": flow}, run=hostnet.Run(warmup="1 us", duration="50 us"))
    columns = documented("clusters.md", "### stages")
    assert list(columns) == hostnet.run_cluster(cluster).tables["stages"].column_names


def test_every_column_of_dimms_is_documented() -> None:
    hosts = {"a": hostnet.Host(preset="netdimm-host", count=2, nic=hostnet.Nic(attach="dimm"))}
    flow = hostnet.Flow(kind="datagram", pattern="ping", from_="a-0", to="a-1", request="1 kB")
    cluster = hostnet.Cluster(host=hosts, flow={"f": flow}, run=hostnet.Run(warmup="1 us", duration="20 us"))
    columns = documented("clusters.md", "### dimms")
    assert list(columns) == hostnet.run_cluster(cluster).tables["dimms"].column_names


def test_packets_of_interfaces_add_up_and_their_columns_are_documented(tmp_path: Path) -> None:
    text = re.sub(r'(duration|warmup) += ".*"', r'\1 = "300 us"', _core.cluster_template("mcn"))
    (tmp_path / "mcn.toml").write_text(text, encoding="utf-8")
    found = hostnet.run(tmp_path / "mcn.toml")
    assert list(documented("clusters.md", "### mcn")) == found.tables["mcn"].column_names
    rows = {(row["host"], row["to"]): row for row in found.summary["mcn"]}
    assert len(rows) == 8
    assert sum(row["read"] for row in rows.values()) > 50
    for (host, to), row in rows.items():
        there = rows[to, host]
        assert row["offered"] == row["sent"] + row["dropped"] + row["waiting"]
        assert 0 <= row["sent"] - there["arrived"] <= 1, "one is on its way at most"
        assert row["read"] <= row["arrived"]


def test_every_column_of_completions_is_documented() -> None:
    hosts = {"e": hostnet.Host(kind="endpoint", count=2)}
    flow = hostnet.Flow(kind="bulk", from_="e-0", to="e-1", bytes="1 kB")
    cluster = hostnet.Cluster(host=hosts, flow={"f": flow}, run=hostnet.Run(warmup="1 us", duration="50 us"))
    columns = documented("clusters.md", "### completions")
    assert list(columns) == hostnet.run_cluster(cluster).tables["completions"].column_names


def test_every_column_of_services_is_documented() -> None:
    hosts = {"e": hostnet.Host(kind="endpoint", count=2)}
    service = hostnet.Service(rate=1e5)
    flow = hostnet.Flow(kind="service", from_="e-0", to="e-1", request="1 kB", service=service)
    cluster = hostnet.Cluster(host=hosts, flow={"f": flow}, run=hostnet.Run(warmup="1 us", duration="50 us"))
    columns = documented("clusters.md", "### services")
    assert list(columns) == hostnet.run_cluster(cluster).tables["services"].column_names


OF_POWER = ("power", "power_states", "frequencies", "ncap", "power_series")


@pytest.fixture(scope="module")
def of_power() -> hostnet.ClusterResults:
    """Returns a short run of a service on a server whose cores have frequencies and sleep."""
    nic = hostnet.Nic(ncap=hostnet.Ncap(fcons=1))
    server = hostnet.Host(preset="i7-3770-gem5", fidelity="fluid", power=hostnet.Power(idle="menu"), nic=nic)
    hosts = {"client": hostnet.Host(kind="endpoint"), "server": server}
    service = hostnet.Service(rate=1e5, cycles=1000, io=hostnet.ServiceIo(reads=1, latency="1 us"), workers=8)
    flow = hostnet.Flow(kind="service", from_="client", to="server", request="100 B", service=service)
    run = hostnet.Run(warmup="20 us", duration="500 us")
    return hostnet.run_cluster(hostnet.Cluster(host=hosts, flow={"f": flow}, run=run), series="100us")


@pytest.mark.parametrize("table", [*OF_POWER, "services", "hosts"])
def test_every_column_of_cores_with_frequencies_is_documented(of_power: hostnet.ClusterResults, table: str) -> None:
    columns = documented("clusters.md", f"### {table}")
    assert list(columns) == of_power.tables[table].column_names
    assert all(len(cells) == 2 and all(cells) for cells in columns.values()) or table in ("services", "hosts")


def test_a_request_takes_its_part_of_the_energy_of_the_cores(of_power: hostnet.ClusterResults) -> None:
    (service,) = of_power.summary["services"]
    energy = sum(row["energy_uj"] for row in of_power.summary["power"])
    assert service["answered"] > 10
    assert service["energy_uj_per_request"] == pytest.approx(energy / service["answered"])


def test_steps_of_cores_add_up_to_what_the_window_says(of_power: hostnet.ClusterResults) -> None:
    steps = of_power.tables["power_series"].to_pylist()
    cores = of_power.summary["power"]
    lengths = [
        now["time_us"] - before for now, before in zip(steps, [0, *(row["time_us"] for row in steps)], strict=False)
    ]
    assert sum(lengths) == pytest.approx(500)
    energy = sum(row["power_w"] * length for row, length in zip(steps, lengths, strict=True))
    assert energy == pytest.approx(sum(row["energy_uj"] for row in cores))
    running = sum(row["running_share"] * length for row, length in zip(steps, lengths, strict=True)) / 500
    assert running == pytest.approx(sum(row["running_share"] for row in cores) / len(cores))
    assert sum(row["sleeps"] for row in steps) == sum(row["entries"] or 0 for row in of_power.summary["power_states"])


def test_ncap_counts_every_request_that_comes(of_power: hostnet.ClusterResults) -> None:
    (told,) = of_power.summary["ncap"]
    assert told["requests"] == of_power.summary["services"][0]["arrived"] > 10
    assert told["high"] == 1, "100,000 requests per second are a burst"
    assert 0 <= told["at_once"] <= told["requests"]


def test_the_shares_of_a_core_are_the_whole_window(of_power: hostnet.ClusterResults) -> None:
    for row in of_power.summary["power"]:
        shares = [row[f"{state}_share"] for state in ("running", "polling", "asleep", "waking", "halted")]
        own = [other["share"] for other in of_power.summary["power_states"] if other["core"] == row["core"]]
        assert (sum(shares), sum(own)) == (pytest.approx(1), pytest.approx(1))


def test_every_column_of_switches_is_documented() -> None:
    hosts = {"e": hostnet.Host(kind="endpoint", count=2)}
    flow = hostnet.Flow(kind="bulk", from_="e-0", to="e-1", bytes="1 kB")
    network = hostnet.Network(switch=hostnet.Switch(kind="learning", table=2, ttl="1 ms", fabric="100 Gbps"))
    run = hostnet.Run(warmup="1 us", duration="50 us")
    results = hostnet.run_cluster(hostnet.Cluster(host=hosts, network=network, flow={"f": flow}, run=run))
    assert list(documented("clusters.md", "### switches")) == results.tables["switches"].column_names
    assert [row["addresses"] for row in results.summary["switches"]] == [1]


def test_every_column_of_pool_is_documented() -> None:
    preset = "cascade-lake-hostcc"
    hosts = {
        "a": hostnet.Host(preset=preset, pool=hostnet.Pool(borrow="4 MiB")),
        "b": hostnet.Host(preset=preset, pool=hostnet.Pool(lent="4 MiB")),
    }
    cluster = hostnet.Cluster(host=hosts, run=hostnet.Run(warmup="1 us", duration="2 us"))
    assert list(documented("clusters.md", "### pool")) == hostnet.run_cluster(cluster).tables["pool"].column_names


@pytest.mark.parametrize("table", ["jobs", "steps"])
def test_every_column_of_jobs_is_documented(table: str) -> None:
    hosts = {"e": hostnet.Host(kind="endpoint", count=2)}
    job = hostnet.Job(kind="barrier", hosts="e")
    cluster = hostnet.Cluster(host=hosts, job={"j": job}, run=hostnet.Run(until="jobs"))
    columns = documented("jobs.md", f"### {table}")
    assert list(columns) == hostnet.run_cluster(cluster).tables[table].column_names


def test_every_column_of_sums_is_documented() -> None:
    hosts = {"e": hostnet.Host(kind="endpoint", count=2)}
    job = hostnet.Job(kind="allreduce", algorithm="in-network", hosts="e", bytes="1 kB")
    network = hostnet.Network(switch=hostnet.Switch(sum="100 Gbps"))
    cluster = hostnet.Cluster(host=hosts, network=network, job={"j": job}, run=hostnet.Run(until="jobs"))
    results = hostnet.run_cluster(cluster)
    assert list(documented("jobs.md", "### sums")) == results.tables["sums"].column_names
    assert results.tables["sums"].to_pylist()[0]["bytes"] == 1000


def test_the_configurations_of_the_page_resolve() -> None:
    text = (ROOT / "docs/clusters.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    whole = [block for block in blocks if "[host." in block]
    shapes = [block for block in blocks if block.startswith("network = ")]
    assert (len(whole), len(shapes)) == (9, 5)
    for block in whole:
        _core.resolve(block)
    for block in shapes:
        _core.resolve(f'{block}[host.e]\nkind = "endpoint"\ncount = 64\n')


def test_every_table_is_documented(short: hostnet.ClusterResults) -> None:
    assert set(short.tables) == {*TABLES, "workloads", "domains", "channels", "caches", "host_series"}


def code_of(page: str, language: str) -> str:
    text = (ROOT / page).read_text(encoding="utf-8")
    return str(re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[0])


def test_the_cluster_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(code_of("docs/clusters.md", "python"), {})
    goodput = {rule: float(gbps) for rule, gbps in map(str.split, capsys.readouterr().out.splitlines())}
    assert list(goodput) == ["none", "hostcc"]
    assert goodput["hostcc"] > 1.2 * goodput["none"], "hostCC keeps the rate of the network"


def test_the_jobs_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    exec(code_of("docs/jobs.md", "python"), {})
    small, large = (float(line.split()[-1]) for line in capsys.readouterr().out.splitlines())
    assert 0 < small < large


def test_the_jobs_of_the_page_resolve() -> None:
    text = (ROOT / "docs/jobs.md").read_text(encoding="utf-8")
    whole, *more = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    _core.resolve(whole)
    assert len(more) == 7
    for block in more:
        _core.resolve(block if block.startswith("[host.") else whole + block)


def test_the_controller_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _core.cluster_template("hostcc")
    text = re.sub(r'(duration|warmup) = ".*"', r'\1 = "300 us"', text)
    text = text.replace('rule = "hostcc"', 'rule = "user"').replace('target = "80 Gbps"', "")
    (tmp_path / "cluster.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found: dict[str, object] = {}
    exec(code_of("docs/controllers.md", "python"), found)
    results = found["results"]
    assert isinstance(results, hostnet.ClusterResults)
    control = results.control["receiver"]
    assert control["rule"] == "user"
    assert control["level_changes"] > 0 or control["echo_share"] > 0


def test_every_option_for_captures_is_documented() -> None:
    text = (ROOT / "docs/pcap.md").read_text(encoding="utf-8")
    assert all(f"--{option}" in text for option in ("pcap FILE", "pcap-host", "pcap-snaplen"))


def test_the_governor_of_the_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    host, *_ = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/governors.md").read_text(encoding="utf-8"), re.DOTALL)
    load = """
        [host.client]
        kind = "endpoint"
        [host.server]
        preset = "i7-3770-gem5"
        fidelity = "fluid"
        [network]
        rate = "10 Gbps"
        latency = "1 us"
        [flow.load]
        kind = "service"
        from = "client"
        to = "server"
        request = "100 B"
        response = "4 KiB"
        service = { rate = 10000, cycles = 100000 }
        [run]
        warmup = "0 us"
        duration = "60 ms"
    """
    (tmp_path / "cluster.toml").write_text(load + host, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {}
    exec(code_of("docs/governors.md", "python"), found)
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 4
    assert len({row["ghz"] for row in found["results"].summary["frequencies"]}) > 1
