//! Benchmarks two servers and a switch, to show the gain of a second thread.

use crate::sample::{interleaved, Sample};
use crate::server::{hash, row};
use crate::{Row, Size};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_sim::{Options, Run};
use std::path::Path;
use std::time::Instant;

/// Two equal servers with memory traffic from remote sockets and flows in both directions.
const TWO_SERVERS: &str = r#"
[host.server]
preset = "cascade-lake-hostcc"
count = 2
[host.server.workload.mapp]
kind = "remote"
sockets = "0-2"
reads = 0.5
[network]
mtu = "4096 B"
switch.ecn = "150 packets"
[flow.there]
kind = "bulk"
from = "server-0"
to = "server-1"
count = 2
[flow.back]
kind = "bulk"
from = "server-1"
to = "server-0"
count = 2
[run]
warmup = "100 us"
"#;

/// Benchmarks two loaded servers and a switch on one thread (the reference) and on two threads.
#[must_use]
pub fn rows(size: Size) -> Vec<Row> {
    let (repetitions, duration_us) = if size == Size::Quick { (1, 20) } else { (5, 1500) };
    let plan = plan(duration_us, if size == Size::Quick { 5 } else { 100 });
    let samples = interleaved(repetitions, &[&|| measure(&plan, 1), &|| measure(&plan, 2)]);
    let name = |threads: &str| format!("2 servers and a switch, {threads}");
    vec![
        row(&name("1 thread"), &(samples.typical(0), 0), None),
        row(&name("2 threads"), &(samples.typical(1), 0), Some(samples.times_as_fast(1, 0))),
    ]
}

/// # Panics
/// Panics if the configuration of the benchmark is invalid.
fn plan(duration_us: u64, warm_up_us: u64) -> Plan {
    let overrides = [format!("run.duration=\"{duration_us} us\""), format!("run.warmup=\"{warm_up_us} us\"")];
    let base_dir = Path::new(".");
    let input = Input { text: TWO_SERVERS, format: Format::Toml, file: "benchmark", base_dir, overrides: &overrides };
    resolve(&input).expect("the configuration of a benchmark is right")
}

/// Measures one run, in seconds of wall time.
fn measure(plan: &Plan, threads: usize) -> Sample {
    let mut run = Run::new(plan, Options { threads, ..Options::default() });
    // Wall time, as the work may be on several threads.
    let start = Instant::now();
    run.run(|_| true).expect("a benchmark does not get stuck");
    let seconds = start.elapsed().as_secs_f64();
    let pending_max = run.simulation().parts().iter().map(|part| part.1.pending_max() as u64).sum();
    Sample { seconds, events: run.events(), pending_max, hash: hash(&run.report().result_hash) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_change_nothing_but_the_time() {
        let hashes: Vec<String> = rows(Size::Quick).into_iter().map(|row| row.hash).collect();
        assert_eq!(hashes[0], hashes[1]);
    }
}
