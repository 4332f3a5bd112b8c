# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A cluster
#
# A server receives four flows of DCTCP at 100 Gbps while cores of three other sockets load and store in the memory that
# its NIC writes to. The cable is not the bottleneck; the host network is ("Host Congestion Control", SIGCOMM 2023).

# %%
from hostnet import Cluster, Control, Core, Flow, Host, Lfb, Network, Run, Socket, Stream, Switch, run, sweep, whatif

socket = Socket(core=Core(lfb=Lfb(entries=24)))  # lines that the cores keep in flight, prefetches among them
receiver = Host(
    preset="cascade-lake-hostcc",
    sockets=4,
    socket={"1": socket, "2": socket, "3": socket},
    workload={"mapp": Stream(cores="8,16,24", memory="node:0", reads=0.5)},
    control=Control(rule="watch", target="80 Gbps"),
)
cluster = Cluster(
    host={"sender": Host(kind="endpoint", latency="8 us"), "receiver": receiver},
    network=Network(rate="100 Gbps", mtu="4096 B", switch=Switch(ecn="600 kB")),
    flow={"netapp": Flow(kind="bulk", from_="sender", to="receiver", count=4, transport="dctcp")},
    run=Run(name="congested", warmup="2 ms", duration="2 ms"),
)
congested = run(cluster)
congested

# %% [markdown]
# ## Which side slows down the other?
#
# `explain` runs each side of the receiver alone as well. Its page has the sources of the latency of both.

# %%
congested.explain("receiver")

# %% [markdown]
# ## Host congestion control
#
# With `rule = "hostcc"` the host watches its IIO and throttles the cores of the other sockets while the flows get less
# than their target. `watch` does nothing. A controller of your own is a function: see `docs/controllers.md`.

# %%
rules = sweep(cluster, {"host.receiver.control.rule": ["watch", "hostcc"]})
rules

# %%
rules.to_pandas()[["host.receiver.control.rule", "goodput_gbps", "nic_drop_percent", "limited_by"]]

# %% [markdown]
# ## What if the NIC sat elsewhere?
#
# A ping between two servers, with the NIC at its PCIe link, on the die, in a DIMM, and at a CXL link. Only the
# attachment changes. The stages say where the time goes.

# %%
server = Host(preset="netdimm-host")
pair = Cluster(
    host={"a": server, "b": server},
    network=Network(topology="direct", rate="40 Gbps"),
    flow={
        "ping": Flow(kind="datagram", pattern="ping", from_="a", to="b", request="64 B", response="64 B", think="1 us")
    },
    run=Run(name="ping", warmup="20 us", duration="1 ms"),
)
places = whatif(pair)
places

# %% [markdown]
# Each place has its own results.

# %%
{place: each.rows("latencies")[0]["mean_us"] for place, each in places.items()}
