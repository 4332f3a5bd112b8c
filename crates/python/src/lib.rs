//! The module `hostnet._core`: configurations, runs and results for Python. The only crate that knows Python.
//!
//! * [`plan`]: text to a checked `Plan`.
//! * [`run`]: the functions `run` and `run_many`. The simulation has a thread of its own; [`supervise`] lets the
//!   calling thread report progress and heed signals meanwhile, and holds the GIL only for that.
//! * [`compare`]: where two runs part, and where a run parts from its record.
//! * [`result`]: what a run hands back, as plain lists.
//! * [`memory`]: the same for the memory alone; [`commands`]: its command files.
//! * [`noc`]: the same for the network on a chip alone.
//! * [`chip`]: the same for chips.
//! * [`codec`]: the codec of gradients, for any buffer of floats.
//! * [`alone`]: what these have in common; [`exchange`]: the way to the other processes of a run.
//! * [`cluster`]: schema and templates of clusters; [`controller`] and [`governor`]: controllers and governors in
//!   Python, which are [`guest`]s of a run; [`capture`]: captures of packets.
//! * [`filter`]: traces through caches; [`output`]: compressed files; [`parquet`]: tables as files.
//! * [`perfetto`]: a trace as a file for the Perfetto UI.
//! * [`explain`]: the published formula, and why a run is as fast as it is.
//! * [`errors`]: the exceptions, and what becomes of a panic.

mod alone;
mod capture;
mod chip;
mod cluster;
mod codec;
mod commands;
mod compare;
mod controller;
mod errors;
mod exchange;
mod explain;
mod filter;
mod governor;
mod guest;
mod memory;
mod noc;
mod output;
mod parquet;
mod perfetto;
mod plan;
mod result;
mod run;
mod supervise;

/// The native part of hostnet: it checks configurations and runs them.
#[pyo3::pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::chip::{chip_plan, chip_schema, chip_template, chips, is_chip, run_chip, ChipPlan, ChipRunResult};
    #[pymodule_export]
    use crate::cluster::{chakra_traces, cluster_schema, cluster_template, cluster_templates, is_cluster};
    #[pymodule_export]
    use crate::codec::{
        codec_bytes_max, codec_compress, codec_decompress, codec_header, codec_round, codec_sizes, CodecFeedback,
    };
    #[pymodule_export]
    use crate::commands::{check_commands, CommandCheck};
    #[pymodule_export]
    use crate::compare::{first_deviation, first_divergence};
    #[pymodule_export]
    use crate::controller::PySignals;
    #[pymodule_export]
    use crate::errors::{CheckpointError, ConfigError, SimulationError};
    #[pymodule_export]
    use crate::explain::{cha_admission, explain, formula, formula_constants, limits};
    #[pymodule_export]
    use crate::filter::{access_formats, filter_trace};
    #[pymodule_export]
    use crate::governor::PyLook;
    #[pymodule_export]
    use crate::memory::{memory_plan, memory_schema, profiles, run_memory, MemoryPlan, MemoryRunResult};
    #[pymodule_export]
    use crate::noc::{noc_plan, noc_schema, run_noc, NocPlan, NocRunResult};
    #[pymodule_export]
    use crate::plan::{
        app_template, apps, check_syntax, counters, devices, dies, energy_profiles, flow_sizes, job_profiles,
        link_bytes_per_s, packet_sizes, power_profiles, presets, resolve, restore_plan, schema, template, transports,
        Plan,
    };
    #[pymodule_export]
    use crate::result::{table_info, RunResult};
    #[pymodule_export]
    use crate::run::{forecast, predict, run, run_many, shares};

    /// The version of hostnet.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Whether it was built with every assertion, as `make test` does, which makes it slower.
    #[pyfunction]
    fn has_assertions() -> bool {
        cfg!(debug_assertions)
    }

    /// Half the width of the 95% confidence interval of the mean of independent values; infinite for fewer than two.
    #[pyfunction]
    fn interval(values: Vec<f64>) -> f64 {
        hostnet_measure::batch::interval(&values)
    }

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::errors::record_panics();
        Ok(())
    }
}
