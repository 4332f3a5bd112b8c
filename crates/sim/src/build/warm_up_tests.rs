//! Tests the work of filling the caches, and stopping it.

use crate::build::warm_up::{FillProgress, TURNOVERS};
use crate::{Options, Preparation, Run};
use hostnet_config::{resolve, Format, Input, Plan};
use std::path::Path;

fn plan(workload: &str, settings: &[&str]) -> Plan {
    let text = format!(
        "[server]\npreset = \"cascade-lake-6234\"\n[cache]\nenabled = true\nl2.sets = 64\nllc.sets = 64\n\
         [workload.w]\n{workload}\n[workload.disk]\nkind = \"fio\"\ncores = \"7\"\n\
         jobs = [{{ rw = \"read\", bs = \"64 KiB\", iodepth = 16, size = \"1 GiB\", ssd = 0 }}]\n"
    );
    let overrides: Vec<String> = settings.iter().map(ToString::to_string).collect();
    let base_dir = Path::new(".");
    resolve(&Input { text: &text, format: Format::Toml, file: "test", base_dir, overrides: &overrides })
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the progress reports of filling, which the callback stops after `most` reports, and true if the filling
/// was completed.
fn progress_reports(plan: &Plan, most: usize) -> (Vec<FillProgress>, bool) {
    let mut told = Vec::new();
    let run = Run::prepare(plan, Options::default(), |stage| {
        if let Preparation::Caches(filling) = stage {
            told.push(filling);
        }
        told.len() < most
    });
    (told, run.is_some())
}

const STREAM: &str = "kind = \"stream\"\ncores = \"0\"\nworking_set = \"16 KiB\"";
const CHASE: &str = "kind = \"app\"\napp = \"chase\"\ncores = \"0-3\"\nworking_set = \"16 KiB\"\ninstructions.line = 0";
const MISSES: &str = "kind = \"stream\"\ncores = \"0-3\"\nworking_set = \"64 MiB\"";

#[test]
fn filling_work_does_not_depend_on_drive_speed() {
    for workload in [STREAM, CHASE, MISSES] {
        let (told, filled) = progress_reports(&plan(workload, &["ssd.bandwidth=1 MB/s"]), 2000);
        assert!(filled, "{workload}: not after {} tellings", told.len());
        assert!(told.windows(2).all(|pair| pair[0].done <= pair[1].done && pair[0].lines == pair[1].lines));
        let last = told.last().expect("it was told");
        assert!(last.done <= last.lines && last.done > last.lines / 2, "{workload}: {last:?}");
        let plan = plan(workload, &[]);
        let turnover = u64::from(plan.server().expect("a server").socket().cha.slices) * 64 * 11;
        assert!(last.lines > TURNOVERS * turnover && last.lines < 2 * TURNOVERS * turnover, "{last:?}");
    }
}

#[test]
fn filling_stops_when_the_callback_returns_false() {
    let plan = plan(STREAM, &["ssd.bandwidth=1 MB/s"]);
    for most in 1..4 {
        let (told, filled) = progress_reports(&plan, most);
        assert_eq!((told.len(), filled), (most, false));
    }
}
