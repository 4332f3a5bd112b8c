//! Tests the energy meter of a server.

use crate::common::stream;
use hostnet_config::Plan;
use hostnet_sim::{Cell, Options, Report, Run};

const METER: [&str; 2] = ["energy.profile=server", "run.duration=50 us"];

fn report(plan: &Plan) -> Report {
    let mut run = Run::new(plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

/// Returns the events and the energy, in microjoules, of a part of a server.
fn of(report: &Report, part: &str) -> (Option<i64>, f64) {
    let table = report.table("energy").expect("there is a meter");
    let row = table.rows.iter().find(|row| table.text(row, "part") == Some(part)).expect("there is such a part");
    let events = match row[1] {
        Cell::Integer(events) => Some(events),
        _ => None,
    };
    (events, table.number(row, "energy_uj").expect("an energy"))
}

#[test]
fn parts_take_power_and_events_take_energy() {
    let found = report(&stream("0-3", 0.5, &METER));
    let near = |found: f64, law: f64| assert!((found - law).abs() < 1e-9 * law.max(1.0), "{found} uJ, law {law}");
    // Eight cores, one socket, two channels of two ranks, for 50 us.
    near(of(&found, "cores active").1, 4.0 * 20.0 * 50.0);
    near(of(&found, "cores idle").1, 4.0 * 7.11 * 50.0);
    near(of(&found, "uncore").1, 20.0 * 50.0);
    near(of(&found, "DRAM background").1, 4.0 * 0.47 * 50.0);
    let each = [("DRAM activate", 4.0), ("DRAM read", 2.83), ("DRAM write", 2.41), ("DRAM refresh", 675.0)];
    for (part, nj) in each {
        let (events, uj) = of(&found, part);
        let events = events.filter(|&events| events > 0).expect("all of these happen") as f64;
        near(uj, events * nj / 1000.0);
    }
    let channels = found.table("channels").expect("channels");
    let all = &channels.rows[0];
    assert_eq!(of(&found, "DRAM activate").0.map(|count| count as f64), channels.number(all, "activations"));
    assert_eq!(of(&found, "DRAM refresh").0.map(|count| count as f64), channels.number(all, "refreshes"));
    let energy = found.table("energy").expect("a meter");
    let parts: f64 = energy.rows[1..].iter().filter_map(|row| energy.number(row, "energy_uj")).sum();
    near(of(&found, "all").1, parts);
}

#[test]
fn a_meter_changes_nothing() {
    let without = report(&stream("0-3", 0.5, &METER[1..]));
    let with = report(&stream("0-3", 0.5, &METER));
    for table in &without.tables {
        assert_eq!(Some(table), with.table(table.name), "{}", table.name);
    }
    assert!(without.table("energy").is_none());
    assert_eq!(without.result_hash, with.result_hash);
}
