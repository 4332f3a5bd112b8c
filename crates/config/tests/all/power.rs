//! Frequencies, voltages and sleep: valid documents, resolved values and errors.

use crate::common::{assert_tells, told};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_params::{GovernorParams, IdleGovernorParams, OndemandVariant, PState, PowerDomain, PowerParams};
use proptest::prelude::*;
use std::path::Path;

fn resolved(text: &str, format: Format, overrides: &[String]) -> Result<Plan, String> {
    resolve(&Input { text, format, file: "test.toml", base_dir: Path::new("."), overrides })
        .map_err(|error| told(&error))
}

fn text(more: &str) -> String {
    format!("server.preset = \"cascade-lake-6234\"\n{more}\n[workload.s]\nkind = \"stream\"\ncores = \"0\"\n")
}

fn server(more: &str) -> Result<Plan, String> {
    resolved(&text(more), Format::Toml, &[])
}

fn of(plan: &Plan) -> PowerParams {
    plan.server().and_then(|server| server.power.as_deref().cloned()).expect("frequencies and sleep")
}

fn power(more: &str) -> PowerParams {
    of(&server(more).unwrap_or_else(|error| panic!("{more}: {error}")))
}

fn says(more: &str, says: &str) {
    match server(more) {
        Ok(_) => panic!("{more} is allowed, and it should say {says}"),
        Err(error) => assert_tells(&error, &[says]),
    }
}

#[test]
fn without_the_table_cores_have_one_frequency() {
    assert!(server("").expect("a server").server().expect("one").power.is_none());
}

#[test]
fn the_profile_is_the_processor_of_its_table() {
    let found = power("power = {}");
    let ends = [&found.pstates[0], &found.pstates[14]];
    assert_eq!(found.pstates.len(), 15);
    let low = PState { khz: 800_000, uv: 650_000, static_uw: 1_920_000, dynamic_uw: 975_990 };
    let high = PState { khz: 3_100_000, uv: 1_200_000, static_uw: 7_110_000, dynamic_uw: 12_890_000 };
    assert_eq!(ends, [&low, &high]);
    let of_four = |state: &PState| 4 * (state.static_uw + state.dynamic_uw);
    assert_eq!(of_four(ends[1]), 80_000_000);
    assert!(of_four(ends[0]).abs_diff(12_000_000) < 500_000, "{}", of_four(ends[0]));
    assert_eq!((found.slew_uv_per_us, found.relock_ps, found.domain), (6_250, 5_000_000, PowerDomain::Chip));
    assert_eq!(found.reference_khz, 3_300_000);
    let sleep: Vec<_> =
        found.cstates.iter().map(|state| (state.name.as_str(), state.exit_ps, state.power_uw)).collect();
    assert_eq!(sleep, [("C1", 2_000_000, None), ("C3", 10_000_000, Some(1_640_000)), ("C6", 22_000_000, Some(0))]);
    assert_eq!(
        found.governor,
        GovernorParams::Ondemand { variant: OndemandVariant::Old, up_threshold: 95, io_busy: true }
    );
    assert_eq!((found.period_ps, found.governor_ps, found.poll_ppm), (10_000_000_000, 10_000_000, 600_000));
    assert_eq!((found.idle, found.qos_ps, found.tick_ps, found.tick_work_ps), (IdleGovernorParams::Menu, None, 0, 0));
}

#[test]
fn the_power_law_of_the_profile_goes_through_the_deeper_sleep_too() {
    let found = power("power.pstates = [\"0.5 GHz @ 0.6 V\", \"4 GHz @ 1.3 V\"]");
    assert!(found.pstates[0].static_uw.abs_diff(1_640_000) < 25_000, "{}", found.pstates[0].static_uw);
    let exponent = (7.11_f64 / 1.92).ln() / (1.2_f64 / 0.65).ln();
    let wanted = 7.11e6 * (1.3_f64 / 1.2).powf(exponent);
    assert!((found.pstates[1].static_uw as f64 - wanted).abs() < 2.0, "{}", found.pstates[1].static_uw);
}

#[test]
fn what_is_given_takes_the_place_of_the_profile() {
    let found = power("power = { domain = \"core\", idle = \"teo\", qos = \"10 us\", tick = \"4 ms\", poll = 0.25 }");
    assert_eq!(
        (found.domain, found.idle, found.qos_ps),
        (PowerDomain::Core, IdleGovernorParams::Teo, Some(10_000_000))
    );
    assert_eq!((found.tick_ps, found.tick_work_ps, found.poll_ppm), (4_000_000_000, 1_000_000, 250_000));
    let given = "{ at = \"2 GHz @ 1 V\", static = \"3 W\", dynamic = \"4 W\" }";
    let found = power(&format!("power.pstates = [\"1 GHz @ 0.65 V\", {given}]"));
    assert_eq!((found.pstates[0].static_uw, found.pstates[1].static_uw), (1_920_000, 3_000_000));
    assert_eq!(found.pstates[1].dynamic_uw, 4_000_000);
    let found = power("power.cstate.C3.disable = true\npower.cstate.C1E = { exit = \"4 us\", residency = \"20 us\" }");
    let names: Vec<_> = found.cstates.iter().map(|state| state.name.as_str()).collect();
    assert_eq!(names, ["C1", "C1E", "C6"]);
    assert_eq!(power("power.cstate.C6.power = \"static\"").cstates[2].power_uw, None);
    let still = power("power = { slew = \"0 V/us\", pstates = [\"1 GHz @ 1 V\", \"2 GHz @ 1 V\"] }");
    assert_eq!(still.slew_uv_per_us, 0);
    assert_eq!(power("power.qos = \"0 us\"").qos_ps, Some(0), "shorter than every exit");
}

#[test]
fn every_governor_is_known_by_its_name_and_by_its_table() {
    let governor = |text: &str| power(&format!("power.governor = {text}")).governor;
    assert_eq!(governor("\"performance\""), GovernorParams::Performance);
    assert_eq!(governor("{ kind = \"powersave\" }"), GovernorParams::Powersave);
    assert_eq!(governor("{ kind = \"userspace\", frequency = \"3.1 GHz\" }"), GovernorParams::Userspace(14));
    let newer = GovernorParams::Ondemand { variant: OndemandVariant::Proportional, up_threshold: 80, io_busy: true };
    assert_eq!(governor("{ variant = \"3.9\", up_threshold = 80 }"), newer, "the profile says the kind");
    let steps = GovernorParams::Conservative { up_threshold: 80, down_threshold: 20, step: 5 };
    assert_eq!(governor("\"conservative\""), steps);
    assert_eq!(governor("\"schedutil\""), GovernorParams::Schedutil);
    assert_eq!(governor("\"user\""), GovernorParams::User("user".into()));
    assert_eq!(governor("{ kind = \"user\", name = \"mine\" }"), GovernorParams::User("mine".into()));
    assert_eq!(power("power.governor = \"performance\"").governor_ps, 0);
}

#[test]
fn another_governor_drops_the_keys_of_the_one_below() {
    let file = text("power.governor = { kind = \"ondemand\", variant = \"3.9\", period = \"1 ms\" }");
    let over = |setting: &str| {
        let plan = resolved(&file, Format::Toml, &[setting.to_owned()]).unwrap_or_else(|error| panic!("{error}"));
        of(&plan)
    };
    assert_eq!(over("power.governor=performance").governor, GovernorParams::Performance);
    assert_eq!(over("power.governor.kind=schedutil").period_ps, 10_000_000_000);
    assert_eq!(over("power.governor.cost=1 us").period_ps, 1_000_000_000);
    let named = text("power.governor = \"ondemand\"");
    let plan = resolved(&named, Format::Toml, &["power.governor.period=2 ms".to_owned()]).expect("a table now");
    assert_eq!(of(&plan).period_ps, 2_000_000_000);
}

#[test]
fn what_is_written_out_is_the_same_configuration() {
    let all = "power = { qos = \"15 us\", governor = \"conservative\", pstates = [\"1 GHz @ 0.65 V\", \
               { at = \"2 GHz @ 1 V\", static = \"3 W\" }], cstate.C6 = { power = \"static\" } }";
    for more in ["", "power = {}", all] {
        let plan = server(more).unwrap_or_else(|error| panic!("{error}"));
        let again = serde_json::to_string(&plan.effective).expect("JSON");
        assert_eq!(resolved(&again, Format::Json, &[]).expect("it is complete").hash, plan.hash, "{more}");
    }
}

#[test]
fn frequencies_that_make_no_table_are_refused() {
    let table = |list: &str, text: &str| says(&format!("power.pstates = {list}"), text);
    table("[]", "[wrong-count power.pstates] 1 to 64");
    table("[\"2 GHz @ 1 V\", \"1 GHz @ 1.1 V\"]", "[wrong-order power.pstates[1]] test.toml:2:  | 1 GHz");
    table("[\"1 GHz @ 1 V\", \"1 GHz @ 1.1 V\"]", "[wrong-order power.pstates[1]] 1 GHz | 1.1 V");
    table("[\"1 GHz @ 1 V\", \"2 GHz @ 0.9 V\"]", "[wrong-order power.pstates[1]] 2 GHz | 900 mV");
    table("[\"1 GHz\"]", "[malformed-value power.pstates[0]] \"1 GHz\" | \"0.8 GHz @ 0.65 V\"");
    table("[\"1 GHz @ 1 W\"]", "[bad-unit power.pstates[0]] \"1 W\" | \"1.2 V\"");
    table("[\"1 GHz @ 9 V\"]", "[out-of-range power.pstates[0]] \"9 V\" | 100 mV");
    table("[\"1 MHz @ 1 V\"]", "[out-of-range power.pstates[0]] \"1 MHz\" | 10 MHz");
    table("[5]", "[wrong-type power.pstates[0]] \"0.8 GHz @ 0.65 V\"");
    table("[{ static = \"1 W\" }]", "[missing-key power.pstates[0].at]");
    table("[{ at = \"1 GHz @ 1 V\", statik = \"1 W\" }]", "[unknown-key power.pstates[0].statik] \"static\"");
    table("{ count = 1 }", "[out-of-range power.pstates.count] 2 to 64");
    table("{ from = \"4 GHz @ 0.65 V\" }", "[wrong-order power.pstates.from] 4 GHz | 650 mV");
    table("{ to = \"3 GHz @ 0.6 V\" }", "[wrong-order power.pstates.to] 800 MHz | 650 mV");
    table("3", "[wrong-type power.pstates]");
    says("power.slew = \"0 V/us\"", "[out-of-range power.slew] 650 mV | 1.2 V");
    says("power.slew = \"5 mV\"", "[bad-unit power.slew] \"5 mV\" | \"6.25 mV/us\"");
}

#[test]
fn powers_that_follow_no_law_are_refused() {
    says("power.static.low = \"8 W @ 0.65 V\"", "[wrong-order power.static.low] 8 W | 650 mV");
    says("power.static.high = \"8 W @ 0.65 V\"", "[wrong-order power.static.high] 1.92 W | 650 mV");
    says("power.static.low = \"0 W @ 0.65 V\"", "[wrong-order power.static.low] 0 W");
    says("power.static = { low = \"1 W\" }", "[malformed-value power.static.low] \"1 W\" | \"1.92 W @ 0.65 V\"");
    says("power.static = { low = \"1 uW @ 1 V\", high = \"999 W @ 1.01 V\" }", "[out-of-range power.static]");
    says("power.dynamic = { power = \"900 W\", at = \"0.8 GHz @ 0.65 V\" }", "[out-of-range power.dynamic]");
    let none = power("power.static = { low = \"0 W @ 0.65 V\", high = \"0 W @ 1.2 V\" }");
    assert!(none.pstates.iter().all(|state| state.static_uw == 0));
    says("power.poll = 1.5", "[out-of-range power.poll] 1.5 | 0.0 to 1.0");
    says("power.tick = \"0 ms\"", "[out-of-range power.tick] \"0 ms\" | 100 us");
    says("power.tick_cost = \"1 us\"", "[no-effect power.tick_cost]");
    says("power.tickless = false", "[no-effect power.tickless]");
    says("power.profile = \"i7\"", "[unknown-name power.profile] \"i7\"");
}

#[test]
fn sleep_that_is_never_worth_it_is_refused() {
    let sleep = |state: &str, text: &str| says(&format!("power.cstate.{state}"), text);
    sleep("C6.residency = \"20 us\"", "[wrong-order power.cstate.C6.residency] 20 us | exit = 22");
    sleep("C6.exit = \"200 us\"", "[wrong-order power.cstate.C6.exit] 150 us | exit = 200");
    sleep("C1.exit = \"10 us\"", "[duplicate power.cstate.C1.exit] 10 us");
    sleep("C3 = { exit = \"30 us\", residency = \"200 us\" }", "[wrong-order power.cstate.C3.exit] 30 us | 22 us");
    sleep("C3.residency = \"200 us\"", "[wrong-order power.cstate.C3.residency] 150 us | 200 us");
    sleep("C6.power = \"2 W\"", "[wrong-order power.cstate.C6.power] 2 W | 1.64 W");
    sleep("C7 = { exit = \"40 us\" }", "[missing-key power.cstate.C7.residency]");
    sleep("C6.power = \"some\"", "[bad-unit power.cstate.C6.power] \"some\"");
    sleep("\"C 6\".exit = \"1 us\"", "[malformed-value power.cstate.\"C 6\"] 1 to 40");
}

#[test]
fn governors_that_are_wrong_are_refused() {
    let governor = |text: &str, wrong: &str| says(&format!("power.governor = {text}"), wrong);
    governor("\"ondemnd\"", "[unknown-name power.governor] \"ondemnd\" | \"ondemand\"");
    governor("{ kind = \"slow\" }", "[unknown-name power.governor.kind] \"slow\"");
    governor("{ kind = 5 }", "[wrong-type power.governor.kind]");
    governor("5", "[wrong-type power.governor]");
    governor("{ period = \"0 ms\" }", "[out-of-range power.governor.period] \"0 ms\" | 1 us");
    governor("{ kind = \"performance\", period = \"1 ms\" }", "[no-effect power.governor.period]");
    governor("{ kind = \"schedutil\", up_threshold = 90 }", "[no-effect power.governor.up_threshold]");
    governor("{ step = 5 }", "[no-effect power.governor.step] \"conservative\"");
    governor("{ variant = \"2.6\" }", "[unknown-name power.governor.variant] \"2.6\" | 2.6.38");
    let pair = "{ kind = \"conservative\", up_threshold = 30, down_threshold = 30 }";
    governor(pair, "[wrong-order power.governor.up_threshold] down_threshold = 30");
    governor(
        "{ kind = \"conservative\", down_threshold = 85 }",
        "[wrong-order power.governor.down_threshold] 80 | down_threshold = 85",
    );
    governor("\"userspace\"", "[missing-key power.governor] \"userspace\"");
    let off = "{ kind = \"userspace\", frequency = \"1 GHz\" }";
    governor(off, "[does-not-exist power.governor.frequency] 1 GHz | \"964.286 MHz\"");
    says("power.idle = \"mennu\"", "[unknown-name power.idle] \"mennu\" | \"menu\"");
}

#[test]
fn sockets_have_one_clock() {
    let two = "server.sockets = 2\npower = {}\nsocket.1.core.frequency = \"2 GHz\"";
    says(two, "[must-agree socket.1.core.frequency] 2 GHz | 3.3 GHz");
}

/// Generates tables that may or may not be ascending.
fn tables() -> impl Strategy<Value = Vec<(u32, u32)>> {
    prop::collection::vec((10_000_u32..200_000, 100_u32..300), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tables_resolve_to_what_they_say_or_are_refused(mut table in tables(), sorted in any::<bool>()) {
        if sorted {
            table.sort_unstable_by_key(|&(khz, _)| khz);
            let mut voltages: Vec<u32> = table.iter().map(|&(_, mv)| mv).collect();
            voltages.sort_unstable();
            table.iter_mut().zip(voltages).for_each(|(state, mv)| state.1 = mv);
        }
        let list: Vec<String> = table.iter().map(|(khz, mv)| format!("\"{khz} kHz @ {mv} mV\"")).collect();
        let found = server(&format!("power = {{ slew = \"1 V/us\", pstates = [{}] }}", list.join(", ")));
        let rises = table.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        match found {
            Ok(plan) => {
                prop_assert!(rises, "{table:?}");
                let states = of(&plan).pstates;
                let said: Vec<(u32, u32)> = states.iter().map(|state| (state.khz, state.uv / 1000)).collect();
                prop_assert_eq!(said, table);
                let rise = |pair: &[PState]| {
                    pair[0].static_uw <= pair[1].static_uw && pair[0].dynamic_uw <= pair[1].dynamic_uw
                };
                prop_assert!(states.windows(2).all(rise), "{states:?}");
            }
            Err(error) => prop_assert!(!rises && error.contains("power.pstates["), "{table:?}: {error}"),
        }
    }

    #[test]
    fn ranges_end_where_they_say(count in 2_usize..64, from in 10_000_u32..5_000_000, more in 100_u32..5_000_000) {
        let to = from + more;
        let range = format!("{{ count = {count}, from = \"{from} kHz @ 0.7 V\", to = \"{to} kHz @ 1.1 V\" }}");
        let states = power(&format!("power.pstates = {range}")).pstates;
        prop_assert_eq!(states.len(), count);
        prop_assert_eq!((states[0].khz, states[count - 1].khz), (from, to));
        for (at, state) in states.iter().enumerate() {
            let even = f64::from(from) + f64::from(more) * at as f64 / (count - 1) as f64;
            prop_assert!((f64::from(state.khz) - even).abs() <= 1.0, "{state:?} for {even}");
        }
    }
}

#[test]
fn cores_that_no_state_brings_to_the_clock_of_their_times_are_told() {
    let notes = |pstates: &str| {
        let plan = server(&format!("power.pstates = [{pstates}]")).expect("a server");
        plan.ignored.iter().filter(|note| note.starts_with("core.frequency: ")).count()
    };
    assert_eq!(notes("\"1 GHz @ 0.7 V\", \"3.3 GHz @ 1 V\""), 0, "the clock of the preset");
    assert_eq!(notes("\"1 GHz @ 0.7 V\", \"3.4 GHz @ 1 V\""), 0);
    assert_eq!(notes("\"1 GHz @ 0.7 V\", \"3.29 GHz @ 1 V\""), 1);
}
