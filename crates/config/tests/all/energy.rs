//! The energy meter: valid documents and errors.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_params::SwitchEnergyParams;
use std::path::Path;

fn resolved(text: &str) -> Result<Plan, String> {
    let input = Input { text, format: Format::Toml, file: "test.toml", base_dir: Path::new("."), overrides: &[] };
    resolve(&input).map_err(|error| told(&error))
}

fn server(more: &str) -> Result<Plan, String> {
    resolved(&format!(
        "server.preset = \"cascade-lake-6234\"\n{more}\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n"
    ))
}

#[test]
fn what_is_not_said_comes_from_the_profile() {
    let plan = |more| server(more).unwrap_or_else(|error| panic!("{error}"));
    let of = |plan: &Plan| plan.server().and_then(|server| server.energy.clone()).expect("a meter");
    assert!(plan("").server().expect("a server").energy.is_none());
    assert_eq!(of(&plan("energy = {}")).core_active_uw, 20_000_000);
    let own = plan("energy.dram_read = \"2 nJ\"\nenergy.band = 0.25");
    assert_eq!((of(&own).dram_read_fj, of(&own).band_ppm, of(&own).core_active_uw), (2_000_000, 250_000, 20_000_000));
    assert_eq!(of(&plan("energy.profile = \"mobile\"")).core_active_uw, 350_000);
    let again = serde_json::to_string(&own.effective).expect("JSON");
    let input =
        Input { text: &again, format: Format::Json, file: "again.json", base_dir: Path::new("."), overrides: &[] };
    assert_eq!(resolve(&input).expect("it is complete").hash, own.hash);
}

#[test]
fn what_is_wrong_is_said() {
    let refused = |found: Result<Plan, String>, says: &str| match found {
        Ok(_) => panic!("allowed, and it should say {says}"),
        Err(error) => assert_tells(&error, &[says]),
    };
    let of_server = |more: &str, says: &str| refused(server(more), says);
    of_server("energy.profile = \"sever\"", "[unknown-name energy.profile] \"sever\"");
    of_server("energy.core_active = 5", "[wrong-type energy.core_active]");
    of_server("energy.core_active = \"5 nJ\"", "[bad-unit energy.core_active] \"5 nJ\"");
    of_server("energy.core_active = \"5 MW\"", "[bad-unit energy.core_active]");
    of_server("energy.band = 1.5", "[out-of-range energy.band]");
    let hosts = "[host.r]\npreset = \"cascade-lake-hostcc\"\nfidelity = \"burst\"\nenergy = {}\n[host.s]\n\
                 kind = \"endpoint\"\n[flow.f]\nkind = \"bulk\"\nfrom = \"s\"\nto = \"r\"\n";
    refused(resolved(hosts), "[needs-line-fidelity host.r.fidelity] fidelity = \"line\"");
}

#[test]
fn there_is_no_profile_of_switches() {
    let pair = |more: &str| {
        let flow = "[flow.f]\nkind = \"bulk\"\nfrom = \"e-0\"\nto = \"e-1\"";
        resolved(&format!("host.e = {{ kind = \"endpoint\", count = 2 }}\n{more}\n{flow}\n"))
    };
    let energy = |more| pair(more).unwrap_or_else(|error| panic!("{error}")).cluster.switches[0].energy;
    assert_eq!(energy(""), None);
    let all = "network.switch.energy = { on = \"90 W\", byte = \"80 pJ\" }";
    assert_eq!(energy(all), Some(SwitchEnergyParams { on_uw: 90_000_000, port_uw: 0, byte_fj: 80_000 }));
    let own = energy(&format!("{all}\nswitch.tor.energy.port = \"1 W\""));
    assert_eq!(own, Some(SwitchEnergyParams { on_uw: 0, port_uw: 1_000_000, byte_fj: 0 }), "as a whole");
    let says = |more: &str, says: &str| match pair(more) {
        Ok(_) => panic!("allowed, and it should say {says}"),
        Err(error) => assert_tells(&error, &[says]),
    };
    says("network.switch.energy = {}", "[missing-key network.switch.energy]");
    says("switch.tor.energy = {}", "[missing-key switch.tor.energy]");
    says("network.switch.energy.bit = \"1 pJ\"", "[unknown-key network.switch.energy.bit]");
    says("network.switch.energy.on = \"1 pJ\"", "[bad-unit network.switch.energy.on] \"1 pJ\"");
}
