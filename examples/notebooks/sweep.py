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
# # A sweep
#
# How many entries does the IIO write buffer need, and does the answer depend on the cores? A sweep runs a configuration
# for every combination of some values.

# %%
from hostnet import Config, Fio, FioJob, Run, Server, Stream, compare, curve, run, sweep

drives = [FioJob(rw="read", bs="8 MiB", iodepth=64, size="1 GiB", ssd=drive) for drive in range(4)]
config = Config(
    server=Server(preset="cascade-lake-6234"),
    workload={"stream": Stream(cores="0-5", reads=0.0), "disk": Fio(jobs=drives, cores="6-7")},
    run=Run(name="entries", warmup="40 us", duration="100 us"),
)
axes = {"iio.write_credits": [46, 92, 138, 184], "workload.stream.cores": ["0-1", "0-3", "0-5"]}
found = sweep(config, axes)
found

# %% [markdown]
# ## As a table
#
# `to_pandas` and `to_polars` return all rows. With few cores the drives get all they offer from 92 entries on; with six
# cores 184 do not harm them, but the cores lose bandwidth.

# %%
frame = found.to_pandas()
frame.pivot_table(
    index="iio.write_credits", columns=["workload", "workload.stream.cores"], values="throughput_gb_per_s"
).round(1)

# %% [markdown]
# ## Many points
#
# `engine="predict"` predicts each point instead of simulating it: hundreds of points take a second.

# %%
predicted = sweep(config, ["iio.write_credits=30..200", "workload.stream.cores=0-1,0-3,0-5"], engine="predict")
predicted.plot("disk")

# %% [markdown]
# ## Two points side by side
#
# `compare` lists what differs between two runs, most important first.

# %%
few, many = (run(config, overrides=[f"iio.write_credits={entries}"]) for entries in (92, 184))
compare(few, many, rerun=False)

# %% [markdown]
# ## Latency under load
#
# `curve` measures the read latency of one core while the others load the memory, like Intel MLC.

# %%
curve("cascade-lake-6234", points=8, reads=[100, 67])
