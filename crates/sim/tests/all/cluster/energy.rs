//! Tests the energy meters of switches.

use crate::cluster::lab::plan;
use hostnet_sim::{Options, Report, Run, Table};

const WINDOW_US: f64 = 200.0;
const METER: &str = "[network.switch.energy]\non = \"100 W\"\nport = \"2 W\"\nbyte = \"3 nJ\"\n";

/// Returns the report of two endpoints at each of two switches with a cable between them, and a flow across it.
fn report(meters: &str) -> Report {
    let text = format!(
        "[host.a]\nkind = \"endpoint\"\ncount = 2\n[host.b]\nkind = \"endpoint\"\ncount = 2\n\
         [network]\ntopology = \"dumbbell\"\nleft = \"a\"\nright = \"b\"\nrate = \"10 Gbps\"\n{meters}\
         [flow.f]\nkind = \"bulk\"\nfrom = \"a-0\"\nto = \"b-1\"\n\
         [run]\nwarmup = \"100 us\"\nduration = \"{WINDOW_US} us\"\n"
    );
    let mut run = Run::new(&plan(&text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report()
}

fn table<'a>(report: &'a Report, name: &str) -> &'a Table {
    report.table(name).unwrap_or_else(|| panic!("no table {name}"))
}

/// Returns the energy of a part of a switch, in microjoules.
fn uj(report: &Report, switch: &str, part: &str) -> f64 {
    let energy = table(report, "energy");
    let own = |row: &&Vec<_>| energy.text(row, "host") == Some(switch) && energy.text(row, "part") == Some(part);
    let row = energy.rows.iter().find(own).unwrap_or_else(|| panic!("no {part} of {switch}"));
    energy.number(row, "energy_uj").expect("an energy")
}

/// Returns the bytes that the ports of a switch sent.
fn sent_bytes(report: &Report, switch: &str) -> f64 {
    let queues = table(report, "queues");
    let own = queues.rows.iter().filter(|row| queues.text(row, "place") == Some(switch));
    own.filter_map(|row| queues.number(row, "sent_gbps")).sum::<f64>() * 1000.0 * WINDOW_US / 8.0
}

#[test]
fn a_switch_takes_power_for_itself_and_each_port_and_energy_for_each_byte() {
    let found = report(METER);
    // The meter counts whole bytes.
    let near = |found: f64, law: f64| assert!((found - law).abs() < 1e-9 * law + 3e-3, "{found} uJ, law {law}");
    for switch in ["left", "right"] {
        let [on, ports] = [100.0 * WINDOW_US, 3.0 * 2.0 * WINDOW_US];
        let bytes = sent_bytes(&found, switch) * 3e-3;
        assert!(bytes > 0.9 * 10.0 * 1000.0 * WINDOW_US / 8.0 * 3e-3, "the cable is nearly full");
        near(uj(&found, switch, "switch"), on);
        near(uj(&found, switch, "switch ports"), ports);
        near(uj(&found, switch, "switch bytes"), bytes);
        near(uj(&found, switch, "all"), on + ports + bytes);
    }
    let efficiency = table(&found, "efficiency");
    let row = &efficiency.rows[0];
    let [bytes, each] = ["bytes", "pj_per_byte"].map(|column| efficiency.number(row, column).expect("a number"));
    near(bytes * each * 1e-6, uj(&found, "left", "all") + uj(&found, "right", "all"));
}

#[test]
fn a_switch_without_energy_keys_is_not_counted() {
    let (with, without) = (report(METER), report(""));
    assert!(without.table("energy").is_none());
    assert_eq!(with.result_hash, without.result_hash);
    let one = report("[switch.left]\nenergy = { on = \"1 W\" }\n");
    assert_eq!(table(&one, "energy").rows.len(), 4, "the other one has no meter");
    assert_eq!(uj(&one, "left", "all"), WINDOW_US);
}
