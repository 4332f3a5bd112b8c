//! Tests that no value that a user sets is ignored silently: it changes the results, is refused, or is reported as
//! without influence.

use crate::common::results::report;
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_sim::Report;
use std::path::Path;

/// Returns the plan of a server with its workload and further settings.
fn plan(preset: &str, more: &str, set: &[&str]) -> Result<Plan, String> {
    let text = format!(
        "[server]\npreset = \"{preset}\"\n[workload.w]\nkind = \"stream\"\ncores = \"0-1\"\nreads = 0.5\n{more}\n\
         [run]\nwarmup = \"10 us\"\nduration = \"10 us\"\n"
    );
    let overrides: Vec<String> = set.iter().map(ToString::to_string).collect();
    let input =
        Input { text: &text, format: Format::Toml, file: "test.toml", base_dir: Path::new("."), overrides: &overrides };
    resolve(&input).map_err(|error| error.to_string())
}

/// Returns the results of a run that are compared, as text.
fn found(report: &Report) -> String {
    let energy = ["energy", "power"].map(|name| format!("{:?}", report.table(name)));
    format!("{} {}", report.result_hash, energy.concat())
}

/// Fate of a value that is set.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Changes,
    Refused,
    Told,
    Ignored,
}

fn fate(preset: &str, more: &str, set: &str) -> Fate {
    let before = report(&plan(preset, more, &[]).expect("a server"));
    let Ok(plan) = plan(preset, more, &[set]) else { return Fate::Refused };
    let after = report(&plan);
    let key = set.split('=').next().expect("a key");
    let idle = after.summary["no_effect"].as_array().expect("a list");
    let named =
        idle.iter().any(|path| path.as_str() == Some(key)) || plan.ignored.iter().any(|note| note.contains(key));
    match found(&after) == found(&before) {
        false => Fate::Changes,
        true if named => Fate::Told,
        true => Fate::Ignored,
    }
}

#[test]
fn a_value_of_any_table_has_an_effect_or_is_reported() {
    use Fate::{Changes, Refused, Told};
    let cached = "[cache]\nenabled = true";
    let power = "[power]\nidle = \"poll\"\npstates = [\"3.3 GHz @ 1.2 V\"]";
    let cases = [
        ("", "core.lfb.entries=5", Changes),
        ("", "core.rob=100", Told),
        (cached, "core.rob=16", Changes),
        ("", "core.frequency=\"2 GHz\"", Told),
        (power, "core.frequency=\"2 GHz\"", Changes),
        ("", "cache.l2.hit=\"9 ns\"", Told),
        ("", "prefetch.credits=9", Told),
        (cached, "prefetch.credits=9", Changes),
        ("", "ddio.write=\"50 ns\"", Told),
        ("", "cha.from_mc=\"50 ns\"", Changes),
        ("", "memory.channels=1", Changes),
        ("", "iio.write_credits=50", Told),
        ("", "pcie.lanes=8", Told),
        ("", "ssd.latency=\"20 us\"", Told),
        ("", "fio.kernel_loads=0.5", Told),
        ("", "upi.links=1", Told),
        ("", "energy.profile=server", Changes),
        ("[energy]\nprofile = \"server\"", "energy.core_active=\"9 W\"", Changes),
        (power, "power.pstates=[\"1.65 GHz @ 1.2 V\"]", Changes),
        (power, "power.dynamic.power=\"9 W\"", Changes),
        (power, "power.tick_cost=\"1 us\"", Refused),
        ("", "workload.w.gap=\"200 ns\"", Changes),
        ("", "pool.blades=1", Refused),
    ];
    for (more, set, expected) in cases {
        assert_eq!(fate("cascade-lake-6234", more, set), expected, "{set} with {more:?}");
    }
    for set in ["nic.coalesce=\"9 us\"", "stack.packet=\"900 ns\"", "control.hold=\"1 ms\""] {
        assert_eq!(fate("cascade-lake-hostcc", "", set), Told, "{set}");
    }
}
