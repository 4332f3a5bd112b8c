"""The page of a host whose NIC compresses."""

from __future__ import annotations

import pytest

from hostnet import Cluster, Compress, Host, Job, Network, Nic, Run, run_cluster
from hostnet.explanation.page import explain_results


@pytest.mark.parametrize(("clock", "named"), [("1 MHz", True), ("1 GHz", False)])
def test_a_full_engine_is_named(clock: str, named: bool) -> None:
    card = Nic(compress=Compress(ratio=16.0, clock=clock))
    server = Host(preset="mcn-scaleup-8", count=2, nic=card)
    job = Job(kind="allreduce", hosts="n", bytes="400 kB", compress=True)
    network = Network(rate="10 Gbps")
    results = run_cluster(Cluster(host={"n": server}, network=network, job={"train": job}, run=Run(until="jobs")))
    pages = [explain_results(results, host) for host in ("n-0", "n-1")]
    rows = [row for page in pages for row in page.explanation["workloads"] if row["workload"] == "train"]
    assert [row["binding"] == ["compression"] for row in rows] == [named, named]
    assert not any(text.startswith("train ") for page in pages for text in page.notes), "it is said once"
