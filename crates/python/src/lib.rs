//! The extension module `hostnet._core`: configurations, runs and results for Python. No other crate depends on
//! Python.
//!
//! * [`plan`]: parses and checks text into a `Plan`.
//! * [`run`]: the functions `run` and `run_many`. A simulation runs on its own thread; [`supervise`] lets the calling
//!   thread report progress and handle signals meanwhile, and holds the GIL only for that.
//! * [`compare`]: finds the event at which two runs, or a run and its record, diverge.
//! * [`result`]: the result of a run, with tables as plain lists.
//! * [`memory`]: plans and runs of the memory alone; [`commands`]: its command
//!   files, and [`command_file`] the one that is open.
//! * [`noc`]: plans and runs of the network on a chip alone.
//! * [`chip`]: plans and runs of chips.
//! * [`codec`]: the gradient codec, for any buffer of floats.
//! * [`standalone`]: plan and result classes of these; [`exchange`]: messages to the other processes of a run.
//! * [`cluster`]: schema and templates of clusters; [`controller`] and [`governor`]: controllers and governors
//!   written in Python, called through [`guest`]; [`tiering`]: tiering policies; [`capture`]: packet captures.
//! * [`kept`]: keeps what Python makes in the cache of the user.
//! * [`filter`]: filters traces through caches; [`output`]: compressed files; [`parquet`]: tables as Parquet files.
//! * [`processor`]: instructions that this processor lacks.
//! * [`perfetto`]: writes a trace as a file for the Perfetto UI.
//! * [`numbers`]: formats of numbers, for pages and the screen; [`report`]: sections of the page of a server.
//! * [`explain`]: the published formula, and explanations of runs. [`remedies`]: limits raised one by one.
//! * [`errors`]: the exceptions, and the conversion of panics.

mod capture;
mod chip;
mod cluster;
mod codec;
mod command_file;
mod commands;
mod compare;
mod controller;
mod errors;
mod exchange;
mod explain;
mod filter;
mod governor;
mod guest;
mod kept;
mod memory;
mod noc;
mod numbers;
mod output;
mod parquet;
mod perfetto;
mod plan;
mod processor;
mod remedies;
mod report;
mod result;
mod run;
mod standalone;
mod supervise;
mod tiering;

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
    use crate::errors::error_table;
    #[pymodule_export]
    use crate::explain::{cha_admission, explain, formula, formula_constants, limits};
    #[pymodule_export]
    use crate::filter::{access_formats, filter_trace};
    #[pymodule_export]
    use crate::governor::PyLook;
    #[pymodule_export]
    use crate::kept::{keep_point, kept_point};
    #[pymodule_export]
    use crate::memory::{memory_plan, memory_schema, profiles, run_memory, MemoryPlan, MemoryRunResult};
    #[pymodule_export]
    use crate::noc::{noc_plan, noc_schema, run_noc, NocPlan, NocRunResult};
    #[pymodule_export]
    use crate::numbers::{
        format_number, format_percent, format_rate, format_share, format_si, format_time_ns, share_text, with_ci95,
        without_negative_zero,
    };
    #[pymodule_export]
    use crate::plan::{
        app_template, apps, check_syntax, counters, devices, dies, energy_profiles, flow_sizes, job_profiles,
        link_bytes_per_s, packet_sizes, power_profiles, presets, resolve, restore_plan, schema,
        stream_and_drives_template, template, transports, Plan,
    };
    #[pymodule_export]
    use crate::processor::missing_instructions;
    #[pymodule_export]
    use crate::remedies::{candidates, find_remedies, inner_raises, raise_path, raise_value};
    #[pymodule_export]
    use crate::report::{
        describe_added_latency, draw_explanation, drift_note, explanation_text, heat, latency_parts, link_line,
        regime_headline, server_sockets, server_table_kinds, server_tables, short_definition, with_directions,
        wrap_text, Glossary, ServerReport,
    };
    #[pymodule_export]
    use crate::result::{table_info, RunResult};
    #[pymodule_export]
    use crate::run::{forecast, predict, run, run_many, shares};
    #[pymodule_export]
    use crate::tiering::PyPages;

    /// Returns the version of hostnet.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Returns True if hostnet was built with all assertions, as `make test` does, which makes it slower.
    #[pyfunction]
    fn has_assertions() -> bool {
        cfg!(debug_assertions)
    }

    /// Returns half the width of the 95 % confidence interval of the mean of independent values; inf for fewer than
    /// two.
    #[pyfunction]
    fn interval(values: Vec<f64>) -> f64 {
        hostnet_measure::batch::interval(&values)
    }

    /// Returns the units of configurations: the name, the dimension, and the numerator and denominator of the size in
    /// base units.
    #[pyfunction]
    fn unit_table() -> Vec<(&'static str, &'static str, u64, u64)> {
        let units = hostnet_config::units::list_units();
        units.map(|(name, dimension, above, below)| (name, dimension.name(), above, below)).collect()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::errors::record_panics();
        let py = module.py();
        module.add("STOPPED", hostnet_report::sentences::STOPPED)?;
        module.add("ConfigError", py.get_type::<crate::errors::ConfigError>())?;
        module.add("SimulationError", py.get_type::<crate::errors::SimulationError>())?;
        module.add("CheckpointError", py.get_type::<crate::errors::CheckpointError>())
    }
}
