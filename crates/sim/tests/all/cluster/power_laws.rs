//! Properties of any server with frequencies, sleep and services.

use crate::cluster::serving::{asked, cores, workers, Scene, PS};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::os::{CoreTimeKind, NetStack};
use hostnet_model::params::PowerParams;
use hostnet_model::power::{CoreMeter, PowerManager};
use hostnet_model::World;
use proptest::prelude::*;

/// Generates P-states with rising frequencies and voltages.
fn any_pstates() -> impl Strategy<Value = String> {
    prop::collection::vec((1_u32..80, 0_u32..20), 1..6).prop_map(|steps| {
        let (mut mhz, mut mv) = (300, 600);
        let state = |(more_mhz, more_mv): (u32, u32)| {
            mhz += more_mhz * 10;
            mv += more_mv * 10;
            format!("\"{mhz} MHz @ {mv} mV\"")
        };
        format!("pstates = [{}]", steps.into_iter().map(state).collect::<Vec<_>>().join(", "))
    })
}

/// Generates a subset of three C-states, from the lightest.
fn any_cstates() -> impl Strategy<Value = String> {
    prop::collection::vec((0_u32..30, 0_u32..100, prop::bool::weighted(0.7)), 3).prop_map(|steps| {
        let (mut exit, mut stay) = (0, 0);
        let state = |(name, (more_exit, more_stay, on)): (&str, (u32, u32, bool))| {
            exit += more_exit + 1;
            stay = (stay + more_stay).max(exit);
            format!("{name} = {{ exit = \"{exit} us\", residency = \"{stay} us\", disable = {} }}", !on)
        };
        format!(
            "cstate = {{ {} }}",
            ["C1", "C3", "C6"].into_iter().zip(steps).map(state).collect::<Vec<_>>().join(", ")
        )
    })
}

fn any_power() -> impl Strategy<Value = String> {
    let governor = prop_oneof![
        Just("\"performance\"".to_owned()),
        Just("\"powersave\"".to_owned()),
        (prop::sample::select(vec!["ondemand", "conservative", "schedutil"]), 50_u32..2000, 0_u32..30).prop_map(
            |(kind, period, cost)| format!("{{ kind = \"{kind}\", period = \"{period} us\", cost = \"{cost} us\" }}")
        ),
    ];
    let idle = prop::sample::select(vec!["poll", "ladder", "menu", "teo"]);
    let domain = prop::sample::select(vec!["chip", "core"]);
    let more = prop::sample::select(vec![
        "",
        ", qos = \"0 us\"",
        ", qos = \"12 us\"",
        ", tick = \"300 us\"",
        ", tick = \"1 ms\", tick_cost = \"20 us\"",
    ]);
    let way = (1_u32..50, 0_u32..25)
        .prop_map(|(slew, relock)| format!("slew = \"{slew} mV/us\", relock = \"{} ns\"", relock * 777));
    (any_pstates(), any_cstates(), governor, idle, domain, more, way).prop_map(
        |(pstates, cstates, governor, idle, domain, more, way)| {
            format!(
                "{pstates}, {cstates}, {way}, governor = {governor}, idle = \"{idle}\", domain = \"{domain}\"{more}"
            )
        },
    )
}

/// Generates keys of the card that work without power management, and keys that need it.
fn any_nic() -> impl Strategy<Value = (String, String)> {
    let queues = prop::sample::select(vec!["", "queues = 1", "queues = 2", "queues = 3"]);
    let mitt = prop_oneof![
        Just(String::new()),
        (10_u32..150, 0_u32..4).prop_map(|(mitt, icr)| { format!("mitt = \"{mitt} us\", icr = \"{icr} us\"") })
    ];
    let mode = prop::sample::select(vec!["off", "hardware", "software"]);
    let rates = prop_oneof![
        (1_u32..30, 30_u32..200, 1_u32..6).prop_map(|(low, high, fcons)| {
            format!("rlt = \"{low} k/s\", rht = \"{high} k/s\", fcons = {fcons}, low = \"300 us\"")
        }),
        Just("cit = \"60 us\", rearm = \"frequency\"".to_owned()),
    ];
    (queues, mitt, mode, rates).prop_map(|(queues, mitt, mode, rates)| {
        let join =
            |parts: &[&str]| parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        let ncap = format!("ncap = {{ mode = \"{mode}\", {rates} }}");
        (join(&[queues, &mitt]), ncap)
    })
}

fn any_scene() -> impl Strategy<Value = Scene> {
    let service = (1_u32..60, 1_u32..30, 0_u32..120, 0_u32..3, 1_u32..9, any::<bool>()).prop_map(
        |(rate, burst, time, reads, workers, poisson)| {
            let how = if poisson { "poisson" } else { "constant" };
            let io =
                if reads > 0 { format!(", io = {{ reads = {reads}, latency = \"45 us\" }}") } else { String::new() };
            format!(
                "rate = {}, burst = {burst}, arrivals = \"{how}\", time = \"{time} us\", workers = {workers}{io}",
                rate * 50
            )
        },
    );
    (1_u32..7, prop::sample::select(vec!["0-3", "0", "1-2", "3"]), service, any::<u32>()).prop_map(
        |(clients, cores, service, seed)| {
            let mut scene = Scene::new(clients, cores, &service).window(1_000, 4_000);
            scene.run += &format!("\nseed = {seed}");
            scene
        },
    )
}

/// Returns the energy of a core with one frequency, in attojoules.
fn energy(params: &PowerParams, meter: &CoreMeter) -> u128 {
    let only = params.pstates[0];
    let residency = meter.residency_ps();
    let by = |uw: u64, ps: u64| u128::from(uw) * u128::from(ps);
    let polls_uw = u128::from(only.dynamic_uw) * u128::from(params.poll_ppm) / 1_000_000;
    let slept = params.cstates.iter().zip(&residency.asleep_ps);
    let slept: u128 = slept.map(|(state, &ps)| by(state.power_uw.unwrap_or(only.static_uw), ps)).sum();
    by(only.static_uw + only.dynamic_uw, residency.running_ps)
        + by(only.static_uw + polls_uw as u64, residency.polling_ps)
        + by(only.static_uw, residency.waking_ps + residency.halted_ps)
        + slept
}

/// Asserts that the statistics of the cores are consistent.
fn check_cores(simulation: &Simulation<World>, now: Time) {
    let manager: &PowerManager =
        crate::cluster::lab::servers(simulation)[0].first().expect("there is power management");
    let params = manager.params();
    for core in cores(simulation) {
        let (meter, entries, wakes) = core.power().expect("it has a clock that changes");
        let residency = meter.residency_ps();
        assert_eq!(residency.total_ps(), now.ps());
        assert_eq!(meter.at_frequency_ps().iter().sum::<u64>(), now.ps());
        let busy = now.ps() - core.times().spent_ps(CoreTimeKind::Idle, now);
        let running = residency.running_ps..=residency.running_ps + residency.halted_ps;
        assert!(running.contains(&busy), "{busy} ps busy, {residency:?}");
        let slept: u64 = entries.iter().sum();
        assert!(slept == wakes || slept == wakes + 1, "{slept} sleeps, {wakes} ends");
        let exits = params.cstates.iter().zip(entries).map(|(state, &count)| state.exit_ps * count).sum::<u64>();
        assert!(residency.waking_ps <= exits);
        if params.pstates.len() == 1 {
            assert_eq!(meter.attojoules(), energy(params, meter));
        }
        let most = params.pstates.iter().map(|state| state.static_uw + state.dynamic_uw).max().expect("one");
        assert!(meter.attojoules() <= u128::from(most) * u128::from(now.ps()));
    }
    for (place, meter) in manager.meters() {
        assert_eq!(meter.window_ps(), now.ps(), "core {place}");
    }
}

/// Returns the number of requests begun or given up so far, which does not depend on their order.
fn offered(simulation: &Simulation<World>) -> u64 {
    let (counts, _) = asked(simulation);
    counts.begun + counts.given_up
}

proptest! {
    #![proptest_config(crate::common::laws::cases(4))]

    #[test]
    fn times_add_up_requests_are_kept_and_nothing_is_stuck(
        scene in any_scene(),
        power in any_power(),
        (nic, ncap) in any_nic(),
        until_us in 200_u64..5000,
    ) {
        let nic = if nic.is_empty() { ncap } else { format!("{nic}, {ncap}") };
        let mut simulation = scene.power(&power).nic(&nic).after(until_us);
        let now = crate::cluster::lab::settle(&mut simulation);
        check_cores(&simulation, now);
        prop_assert_eq!(offered(&simulation), offered(&scene.after(until_us)), "the server has no say in it");
        let (counts, latency) = asked(&simulation);
        let (_, waiting, stats) = workers(&simulation);
        prop_assert_eq!(latency.count(), counts.answered);
        prop_assert!(counts.answered <= stats.served && stats.served + waiting as u64 <= stats.arrived);
        prop_assert!(stats.arrived <= counts.begun);
        crate::cluster::lab::drain(&mut simulation);
        for _ in 0..400 {
            let (counts, _) = asked(&simulation);
            if counts.answered == counts.begun {
                break;
            }
            simulation.run_until(simulation.progress().time + 10_000 * PS, |_| true);
        }
        let now = crate::cluster::lab::settle(&mut simulation);
        let (counts, _) = asked(&simulation);
        let (_, waiting, stats) = workers(&simulation);
        prop_assert_eq!(counts.answered, counts.begun, "all that was begun is answered when no more come");
        prop_assert_eq!((stats.arrived, stats.served, waiting), (counts.begun, counts.begun, 0));
        check_cores(&simulation, now);
        let given: u64 = cores(&simulation).into_iter().map(NetStack::given).sum();
        prop_assert!(given <= 3 * counts.begun * 3);
    }
}

proptest! {
    #![proptest_config(crate::common::laws::cases(2))]

    #[test]
    fn threads_and_checkpoints_change_nothing_of_servers_that_sleep(
        scene in any_scene(),
        power in any_power(),
        (nic, ncap) in any_nic(),
        at_ps in 1_u64..5_000_000_000,
    ) {
        let nic = if nic.is_empty() { ncap } else { format!("{nic}, {ncap}") };
        let plan = scene.power(&power).nic(&nic).plan();
        crate::cluster::lab::assert_same_on_threads_and_from_a_checkpoint(&plan, at_ps);
    }

    #[test]
    fn looking_at_servers_that_sleep_changes_nothing(
        scene in any_scene(),
        power in any_power(),
        looks in prop::collection::btree_set(1_u64..3_000_000_000, 1..30),
    ) {
        let plan = scene.power(&power).plan();
        let after = |looks: &[u64]| {
            let mut simulation = crate::cluster::lab::run(&plan, 0);
            for &look in looks {
                simulation.run_until(Time::from_ps(look), |_| true);
                crate::cluster::lab::settle(&mut simulation);
            }
            simulation.run_until(crate::common::us(3_000), |_| true);
            crate::cluster::lab::settle(&mut simulation);
            let energy: Vec<_> = cores(&simulation)
                .into_iter()
                .map(|core| core.power().map(|(meter, entries, wakes)| (meter.attojoules(), entries.to_vec(), wakes)))
                .collect();
            (energy, asked(&simulation).1.sum(), simulation.progress().events)
        };
        prop_assert_eq!(after(&looks.into_iter().collect::<Vec<_>>()), after(&[]));
    }
}
