//! Hand-made counters and servers that the tests share.
#![allow(unreachable_pub)]

use hostnet_analysis::formula::Constants;
use hostnet_analysis::{Counters, Flow};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_model::params::ServerParams;
use std::path::Path;

/// Constants with round values.
pub const CONSTANTS: Constants = Constants {
    t_trans_ns: 2.0,
    t_wtr_ns: 8.0,
    t_rtw_ns: 16.0,
    t_act_ns: 10.0,
    t_pre_ns: 20.0,
    const_read_ns: 70.0,
    const_write_ns: 300.0,
};

pub fn flow(occupancy: f64, lines: f64) -> Flow {
    Flow { occupancy: Some(occupancy), lines: Some(lines) }
}

/// Counters of a window of 1 us in which every counter was read.
pub fn counters() -> Counters {
    Counters {
        lfb_full_cores: None,
        window_ns: 1000.0,
        channels: 2.0,
        lines_read: Some(100.0),
        lines_written: Some(50.0),
        read_activations: Some(20.0),
        write_activations: Some(10.0),
        read_conflicts: Some(10.0),
        write_conflicts: Some(5.0),
        mode_switches: Some(5.0),
        rpq_occupancy: Some(11.0),
        wpq_occupancy: Some(30.0),
        rpq_full_share: Some(0.25),
        wpq_full_share: Some(0.5),
        lfb: flow(20.0, 100.0),
        core_read: flow(15.0, 100.0),
        core_write: flow(10.0, 50.0),
        io_read: flow(5.0, 20.0),
        io_write: flow(30.0, 100.0),
        iio_write: flow(80.0, 100.0),
        iio_read: flow(40.0, 20.0),
    }
}

/// Checked plan of the Cascade Lake server with `workloads`.
pub fn plan(workloads: &str) -> Plan {
    let text = format!("[server]\npreset = \"cascade-lake-6234\"\n{workloads}");
    let base_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    resolve(&Input { text: &text, format: Format::Toml, file: "test.toml", base_dir: &base_dir, overrides: &[] })
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Workload of six cores that only load.
pub const STREAM: &str = "[workload.stream]\nkind = \"stream\"\ncores = \"0-5\"\n";

/// Counters of an idle socket.
pub fn idle() -> Counters {
    Counters {
        lfb: flow(0.0, 0.0),
        core_read: flow(0.0, 0.0),
        core_write: flow(0.0, 0.0),
        io_read: flow(0.0, 0.0),
        io_write: flow(0.0, 0.0),
        iio_write: flow(0.0, 0.0),
        iio_read: flow(0.0, 0.0),
        ..counters()
    }
}

/// The server with its caches: LLC hits take 16 ns, and device writes to the LLC 33 ns, for the drives marked in
/// `drives`.
pub fn with_caches(drives: Vec<bool>) -> ServerParams {
    let text = format!("[cache]\nenabled = true\nllc.hit = \"16 ns\"\n{}", STREAM.replace("stream]", "C2M]"));
    let mut server = plan(&text).server().unwrap().clone();
    let ddio = &mut server.socket_mut().cache.as_mut().expect("it has caches").ddio;
    (ddio.drives, ddio.write_ps) = (drives, 33_000);
    server
}
