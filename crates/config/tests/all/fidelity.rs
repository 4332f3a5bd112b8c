//! Fidelity of a server without a network: what may be simulated in bursts, and what may not.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_params::Fidelity;
use std::path::Path;

fn resolved(text: &str, overrides: &[&str]) -> Result<Plan, String> {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let base_dir = Path::new(".");
    let input = Input { text, format: Format::Toml, file: "test.toml", base_dir, overrides: &overrides };
    resolve(&input).map_err(|error| told(&error))
}

/// Returns the plan of a server with a stream and a drive.
fn server(overrides: &[&str]) -> Result<Plan, String> {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n\
                [workload.d]\nkind = \"fio\"\ncores = \"1\"\n\
                jobs = [{ rw = \"write\", bs = \"128 KiB\", iodepth = 8, size = \"1 GiB\", ssd = 0 }]\n";
    resolved(text, overrides)
}

#[test]
fn a_server_has_the_fidelity_that_it_is_given() {
    let plan = |overrides: &[&str]| server(overrides).unwrap_or_else(|error| panic!("{error}"));
    let fidelity = |plan: &Plan| plan.cluster.hosts[0].fidelity;
    let [absent, line, burst] = [plan(&[]), plan(&["server.fidelity=line"]), plan(&["server.fidelity=burst"])];
    assert_eq!([&absent, &line, &burst].map(fidelity), [Fidelity::Line, Fidelity::Line, Fidelity::Burst]);
    assert_eq!(absent.hash, line.hash);
    assert_ne!(absent.hash, burst.hash);
    assert_eq!(burst.ignored.len(), absent.ignored.len() + 1, "a note tells the error: {:?}", burst.ignored);
    let again = serde_json::to_string(&burst.effective).expect("JSON");
    let input =
        Input { text: &again, format: Format::Json, file: "again.json", base_dir: Path::new("."), overrides: &[] };
    assert_eq!(resolve(&input).expect("it is complete").hash, burst.hash);
}

#[test]
fn what_has_no_bursts_is_refused() {
    let cases: [(&[&str], &str); 19] = [
        (&["server.fidelity=fluid"], "[not-supported server.fidelity]"),
        (&["server.sockets=2"], "[not-supported server.fidelity]"),
        (&["cache.enabled=true"], "[needs-line-fidelity server.fidelity] cache.enabled"),
        (&["server.preset=epyc-9654"], "[needs-line-fidelity server.fidelity] chiplets"),
        (&["workload.s.working_set=192 B"], "[needs-line-fidelity server.fidelity] 192"),
        (&["workload.s.working_set=1 KiB"], "[needs-line-fidelity server.fidelity] workload s | 3072"),
        (&["workload.s.pattern=random"], "[needs-line-fidelity server.fidelity] workload s"),
        (&["workload.s.pattern=strided", "workload.s.stride=256 B"], "[needs-line-fidelity server.fidelity]"),
        (&["energy.profile=server"], "[needs-line-fidelity server.fidelity]"),
        (&["memory.map=RoBaRaCoCh"], "[needs-line-fidelity server.fidelity] memory.map | 256"),
        (&["core.lfb.entries=10"], "[needs-line-fidelity server.fidelity] core.lfb.entries | 10 | 12"),
        (&["cha.tor.entries=3"], "[needs-line-fidelity server.fidelity] cha.tor.entries | 54 | 64"),
        (&["memory.controller.rpq.entries=12"], "[needs-line-fidelity server.fidelity] 12 | 16"),
        (&["memory.controller.wpq.entries=12"], "[needs-line-fidelity server.fidelity]"),
        (&["memory.controller.writes_per_mode=8"], "[needs-line-fidelity server.fidelity] 8 | 16"),
        (&["iio.write_credits=15"], "[needs-line-fidelity server.fidelity] iio.write_credits | 15 | 16"),
        (&["iio.read_credits=18"], "[needs-line-fidelity server.fidelity] iio.read_credits | 18 | 11.1 %"),
        (&["pcie.mps=128 B"], "[needs-line-fidelity server.fidelity] pcie.mps | 2"),
        (&["pcie.nonposted_lines=12"], "[needs-line-fidelity server.fidelity] pcie.nonposted_lines | 12"),
    ];
    for (changes, says) in cases {
        let overrides = [&["server.fidelity=burst"], changes].concat();
        let error = server(&overrides).expect_err(says);
        assert_tells(&error, &[says]);
    }
}

#[test]
fn the_least_pools_are_allowed() {
    let least = [
        "server.fidelity=burst",
        "core.lfb.entries=12",
        "cha.slices=4",
        "cha.tor.entries=16",
        "cha.tor.write_entries=16",
        "memory.controller.rpq={ entries = 16, full_threshold = 16 }",
        "iio.write_credits=16",
        "iio.read_credits=16",
        "pcie.posted_lines=16",
        "pcie.nonposted_lines=16",
    ];
    server(&least).unwrap_or_else(|error| panic!("{error}"));
}
