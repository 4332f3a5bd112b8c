//! Services whose workers are threads of a server: limits.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input};
use std::path::Path;

/// Returns the error of a service at a server, or at an endpoint.
fn wrong(server: bool, service: &str) -> Option<String> {
    let to = if server { "preset = \"i7-3770-gem5\"" } else { "kind = \"endpoint\"" };
    let text = format!(
        "[host.client]\nkind = \"endpoint\"\n[host.server]\n{to}\n[network]\n\
         [flow.load]\nkind = \"service\"\nfrom = \"client\"\nto = \"server\"\nrequest = \"1 kB\"\n\
         service = {{ rate = 1, {service} }}\n"
    );
    let input =
        Input { text: &text, format: Format::Toml, file: "test.toml", base_dir: Path::new("."), overrides: &[] };
    resolve(&input).err().map(|error| told(&error))
}

#[test]
fn a_core_works_for_a_bounded_time_without_a_read_of_storage() {
    let reads = "io = { reads = 3, latency = \"1 ms\" }";
    for service in ["time = \"400 ms\"", "cycles = 1240000000", &format!("time = \"1600 ms\", {reads}")] {
        assert_eq!(wrong(true, service), None, "{service}");
    }
    for (key, service) in [
        ("time", "time = \"401 ms\"".to_owned()),
        ("cycles", "cycles = 1243100000".to_owned()),
        ("time", format!("time = \"1604 ms\", {reads}")),
    ] {
        let error = wrong(true, &service).expect("too long");
        assert_tells(&error, &[&format!("[out-of-range flow.load.service.{key}] 401 ms | 400 ms")]);
    }
    assert_eq!(wrong(false, "time = \"1000 s\""), None, "workers of an endpoint are no cores");
}

#[test]
fn a_server_has_a_bounded_number_of_services() {
    let with = |services: usize, to: &str| {
        let flow = |number| {
            format!(
                "[flow.f{number}]\nkind = \"service\"\nfrom = \"client\"\nto = \"server\"\nclass = \"c\"\n\
                 request = \"1 kB\"\nservice = {{ rate = 1 }}\n"
            )
        };
        let text = format!(
            "[host.client]\nkind = \"endpoint\"\n[host.server]\n{to}\n[network]\n{}",
            (0..services).map(flow).collect::<String>()
        );
        let input =
            Input { text: &text, format: Format::Toml, file: "test.toml", base_dir: Path::new("."), overrides: &[] };
        resolve(&input).err().map(|error| told(&error))
    };
    let server = "preset = \"i7-3770-gem5\"";
    assert_eq!(with(256, server), None);
    let error = with(257, server).expect("one too many");
    assert_tells(&error, &["[too-many flow.f99] 256"]);
    assert_eq!(with(257, "kind = \"endpoint\""), None);
}
