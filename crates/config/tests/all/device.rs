//! Replacement of a device or a profile: kept values, dropped values, and notes.

use crate::common::{cluster, plan, plan_json};
use hostnet_config::{devices, presets, profiles, Plan};
use hostnet_params::TimingParams;
use proptest::prelude::*;

const STREAM: &str = "[workload.a]\nkind = \"stream\"\ncores = \"0\"\nworking_set = \"64 MiB\"\n";

/// Values on top of a device, on top of a profile, or beside them.
const SETTINGS: [&str; 9] = [
    "memory.dram.ranks=1",
    "memory.dram.rows=16384",
    "memory.dram.timing.cl=60",
    "memory.dram.timing.rank_switch=7",
    "memory.dram.timing.read_to_write=5",
    "memory.controller.rpq.entries=40",
    "memory.controller.write_high=90%",
    "memory.channels=3",
    "memory.page=2 MiB",
];

fn server(preset: &str) -> String {
    format!("[server]\npreset = \"{preset}\"\n{STREAM}")
}

fn named(plan: &Plan) -> [String; 2] {
    ["device", "profile"].map(|key| format!("memory.{key}={}", plan.effective["memory"][key].as_str().unwrap()))
}

fn timing(plan: &Plan) -> &TimingParams {
    &plan.server().unwrap().socket().memory.dram.timing
}

fn assert_same(named: &Plan, plain: &Plan) {
    assert_eq!((&named.hash, &named.cluster, &named.effective), (&plain.hash, &plain.cluster, &plain.effective));
    assert_eq!(named.ignored, plain.ignored);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn to_name_what_is_there_already_changes_nothing(
        preset in prop::sample::select(presets()),
        settings in prop::sample::subsequence(SETTINGS.to_vec(), 0..SETTINGS.len()),
    ) {
        let text = server(&preset.name);
        let plain = plan(&text, &settings);
        let names = named(&plain);
        let names = names.each_ref().map(String::as_str);
        assert_same(&plan(&text, &[&settings[..], &names].concat()), &plain);
        assert_same(&plan(&text, &[&names, &settings[..]].concat()), &plain);
        assert_same(&plan_json(&plain.effective.to_string(), &names), &plain);
        let written = names.map(|name| name.replace("memory.", "").replace('=', " = \"") + "\"\n").concat();
        assert_same(&plan(&format!("[memory]\n{written}{text}"), &settings), &plain);
    }

    #[test]
    fn there_and_back_is_where_one_was(
        preset in prop::sample::select(presets()),
        device in prop::sample::select(devices()),
        profile in prop::sample::select(profiles()),
    ) {
        let plain = plan(&server(&preset.name), &[]);
        let away = [format!("memory.device={device}"), format!("memory.profile={profile}")];
        let way = [&away[..], &named(&plain)].concat();
        let way: Vec<&str> = way.iter().map(String::as_str).collect();
        assert_same(&plan(&server(&preset.name), &way), &plain);
        assert_same(&plan_json(&plain.effective.to_string(), &way), &plain);
    }

    #[test]
    fn what_is_not_of_the_device_stays(
        preset in prop::sample::select(presets()),
        device in prop::sample::select(devices()),
        complete in any::<bool>(),
    ) {
        let plain = plan(&server(&preset.name), &[]);
        let text = plain.effective.to_string();
        let set = [format!("memory.device={device}")];
        let set = set.each_ref().map(String::as_str);
        let other = if complete { plan_json(&text, &set) } else { plan(&server(&preset.name), &set) };
        let mut expected = plain.effective.clone();
        expected["memory"]["device"] = other.effective["memory"]["device"].clone();
        expected["memory"]["dram"] = other.effective["memory"]["dram"].clone();
        // A socket with its own tables takes over the device unless these tables name one, as complete tables do.
        if let (false, Some(sockets)) = (complete, expected.get_mut("socket").and_then(|all| all.as_object_mut())) {
            for own in sockets.values_mut() {
                own["memory"]["device"] = other.effective["memory"]["device"].clone();
                own["memory"]["dram"] = other.effective["memory"]["dram"].clone();
            }
        }
        prop_assert_eq!(&other.effective, &expected);
        // A faster device may leave the slices behind; a note gives a sufficient value.
        let dropped: Vec<_> = other.ignored.iter().filter(|note| !note.ends_with("would fit")).collect();
        prop_assert_eq!(dropped, plain.ignored.iter().collect::<Vec<_>>());
        if preset.name.starts_with("cascade-lake") {
            prop_assert_eq!(timing(&other).rank_switch, 4);
        }
    }
}

#[test]
fn what_a_change_of_the_device_takes_away_is_told_in_one_line() {
    let text = format!(
        "[memory.dram]\nranks = 1\nrows = 32768\n[memory.dram.timing]\ncl = 25\n{}",
        server("cascade-lake-6234")
    );
    let other = plan(&text, &["memory.device=DDR4_3200", "memory.profile=ramulator"]);
    assert_eq!((timing(&other).cl, other.server().unwrap().socket().memory.dram.ranks), (22, 1));
    assert_eq!(
        other.ignored,
        ["memory.device = \"DDR4_3200\" drops what was set over \"DDR4_2933\": \
          memory.dram.rows = 32768, memory.dram.timing.cl = 25"]
    );
    let given = plan(&text, &["memory.device=DDR4_3200", "memory.dram.rows=32768", "memory.dram.timing.cl=25"]);
    assert_eq!(timing(&given).cl, 25);
    let complete = plan(&text, &["memory.controller.rpq.entries=40"]).effective.to_string();
    let other = plan_json(&complete, &["memory.profile=ramulator"]);
    assert_eq!(other.server().unwrap().socket().memory.controller.rpq_entries, 32);
    let [line] = &other.ignored[..] else { panic!("{:?}", other.ignored) };
    assert!(line.starts_with("memory.profile = \"ramulator\" drops what was set over \"intel\": "), "{line}");
    assert!(line.contains("memory.controller.rpq.entries = 40"), "{line}");
}

#[test]
fn a_host_keeps_what_is_not_of_its_device() {
    let text = "[host.a]\npreset = \"cascade-lake-hostcc\"\n[host.b]\npreset = \"cascade-lake-hostcc\"\n\
                [host.a.memory.dram.timing]\ncl = 25\n[flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\n";
    let plain = cluster(text, &[]);
    assert_same(&cluster(text, &["host.a.memory.device=DDR4_2933"]), &plain);
    let other = cluster(text, &["host.a.memory.device=DDR4_3200"]);
    let timing = |plan: &Plan, name: &str| {
        plan.servers()
            .find(|(host, _)| host.name == name)
            .map(|(_, server)| server.socket().memory.dram.timing)
            .unwrap()
    };
    assert_eq!((timing(&other, "a").cl, timing(&other, "a").rank_switch), (22, 4));
    assert_eq!(timing(&other, "b"), timing(&plain, "b"));
    assert_eq!(
        other.ignored,
        ["host.a: memory.device = \"DDR4_3200\" drops what was set over \"DDR4_2933\": memory.dram.timing.cl = 25"]
    );
}
