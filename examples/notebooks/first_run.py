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
# # A first run
#
# Six cores store to memory while four NVMe drives are read. The drives offer 13.9 GB/s, and little more than half of it
# arrives, although no link and no channel is busy all the time. This notebook runs that server and asks why.

# %%
from dataclasses import replace

from hostnet import Config, Fio, FioJob, Iio, Run, Server, Stream, predict, run

drives = [FioJob(rw="read", bs="8 MiB", iodepth=64, size="1 GiB", ssd=drive) for drive in range(4)]
config = Config(
    server=Server(preset="cascade-lake-6234"),
    workload={"stream": Stream(cores="0-5", reads=0.0), "disk": Fio(jobs=drives, cores="6-7")},
    run=Run(name="first", duration="200 us"),
)
results = run(config)
results

# %% [markdown]
# The picture shows the buffers that requests pass, and how full they are. Lanes 1 to 4 are the four domains, the paths
# on which a line holds a credit; the thick lane and the framed bar are what limits the drives.
#
# ## Why?
#
# `explain` names the bottleneck of each workload, where the time of its lines goes, and what would help. Every gain is
# a prediction for a changed server.

# %%
explanation = results.explain()
explanation

# %% [markdown]
# ## Does it help?
#
# The IIO write buffer has 92 entries. With twice as many, the drives get what they offer, and the cores pay for it.

# %%
entries = {92: results, 184: run(replace(config, iio=Iio(write_credits=184)))}
for count, each in entries.items():
    rates = ", ".join(f"{name} {row['app_gb_per_s']:.1f} GB/s" for name, row in each.workloads.items())
    print(f"{count} entries: {rates}")

# %% [markdown]
# ## Without simulating
#
# A prediction takes less than a millisecond. Its tables are those of a run, without the values that only events have.

# %%
for name, row in predict(config).workloads.items():
    print(f"{name}: {row['app_gb_per_s']:.1f} GB/s predicted, {results.workloads[name]['app_gb_per_s']:.1f} simulated")

# %% [markdown]
# ## What to keep
#
# Every table is a data frame, every plot a figure of matplotlib, and `report` writes the page that `hostnet run`
# writes.

# %%
results.to_pandas("domains").query("workload == 'all' and part == 'all'")[["domain", "capacity", "in_use_mean"]]

# %%
results.plot("domains")

# %%
results.report()
