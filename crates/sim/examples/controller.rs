//! Runs a cluster with a custom controller: `cargo run --release --package hostnet-sim --example controller --
//! cluster.toml`.
//!
//! The cluster needs a host "receiver" with `control.rule = "user"`.

use hostnet_config::{resolve, Format, Input};
use hostnet_model::control::{Actions, Controller, Sampled, Signals, LEVEL_MAX};
use hostnet_sim::{Options, Run};
use std::error::Error;
use std::path::Path;

/// Raises the level while I_S is above a bound, in lines, and lowers it otherwise, at most every 100 us.
#[derive(Clone, Debug)]
struct Above {
    lines: u64,
    changed_ps: u64,
}

impl Controller for Above {
    fn on_sample(&mut self, signals: &Signals) -> Actions {
        let above = signals.occupancy_smoothed > self.lines << 10;
        if signals.sampled == Sampled::Occupancy {
            return Actions { level: None, echo: Some(above) };
        }
        if signals.now_ps < self.changed_ps + 100_000_000 {
            return Actions::default();
        }
        self.changed_ps = signals.now_ps;
        let level = if above { (signals.level + 1).min(LEVEL_MAX) } else { signals.level.saturating_sub(1) };
        Actions { level: Some(level), echo: None }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("name the file of a cluster")?;
    let text = std::fs::read_to_string(&file)?;
    let base_dir = Path::new(&file).parent().unwrap_or(Path::new("."));
    let plan = resolve(&Input { text: &text, format: Format::Toml, file: &file, base_dir, overrides: &[] })?;
    let mut run = Run::new(&plan, Options::default());
    run.attach("receiver", Box::new(Above { lines: 70, changed_ps: 0 }))?;
    run.run(|_| true)?;
    let summary = run.report().summary;
    println!("{:#}\n{:#}", summary["classes"], summary["control"]);
    Ok(())
}
