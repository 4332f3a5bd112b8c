//! Runs a cluster with a custom governor: `cargo run --release --package hostnet-sim --example governor --
//! cluster.toml`.
//!
//! The cluster needs a host "server" with `power.governor = "user"`.

use hostnet_config::{resolve, Format, Input};
use hostnet_model::power::{Governor, Look};
use hostnet_sim::{Options, Run};
use std::error::Error;
use std::path::Path;

/// Selects the fastest P-state above a load, in percent, and the next slower one after each sample below it.
#[derive(Clone, Debug)]
struct StepsDown {
    above: u64,
}

impl Governor for StepsDown {
    fn decide(&mut self, look: &Look) -> usize {
        if look.percent() > self.above {
            return look.fastest();
        }
        look.at.saturating_sub(1)
    }

    fn state(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn restore(&mut self, _state: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("name the file of a cluster")?;
    let text = std::fs::read_to_string(&file)?;
    let base_dir = Path::new(&file).parent().unwrap_or(Path::new("."));
    let plan = resolve(&Input { text: &text, format: Format::Toml, file: &file, base_dir, overrides: &[] })?;
    let mut run = Run::new(&plan, Options::default());
    run.attach_governor("server", Box::new(StepsDown { above: 80 }))?;
    run.run(|_| true)?;
    let summary = run.report().summary;
    println!("{:#}\n{:#}", summary["classes"], summary["power"]);
    Ok(())
}
