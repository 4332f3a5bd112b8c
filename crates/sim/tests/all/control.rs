//! Tests host congestion control: the timing of its loops, and its effect on cores.

use crate::common;
use crate::common::laws::{drain, run_to};
use crate::common::results::assert_near;
use crate::common::{example, hash, plan, settled, us};
use hostnet_kernel::{checkpoint, Simulation, Time};
use hostnet_model::control::{Actions, Control, Controller, Sampled, Signals, LEVEL_MAX};
use hostnet_model::iio::Iio;
use hostnet_model::params::{
    ControlParams, ControlRule, HostCcParams, RemoteCore, RemoteParams, ServerParams, StreamParams, UpiParams,
    WorkloadKind,
};
use hostnet_model::{IioCounter, Machine};
use hostnet_sim::build;
use hostnet_sim::sample::{self, PoolGroup};
use proptest::prelude::*;

const WRITE_PS: u64 = 22_000_000;

fn control(rule: ControlRule) -> ControlParams {
    ControlParams {
        rule,
        read_ps: 600_000,
        read_spread_ps: 100_000,
        write_ps: WRITE_PS,
        signal_ps: 2_000_000,
        iio_clock_ps: 2000,
        mba_ps: 1_000_000,
        sender: false,
        expander: None,
    }
}

fn hostcc() -> HostCcParams {
    HostCcParams {
        occupancy: 70 << 10,
        target_bytes_per_s: 10_500_000_000,
        occupancy_shift: 3,
        bandwidth_shift: 8,
        hold_ps: 150_000_000,
        local: true,
        echo: true,
        occupancy_floor: 10,
        bandwidth_ceiling: 18_750_000_000,
    }
}

/// Returns a server with four drives that write to memory, and stores of one core on each of three remote sockets.
fn busy(rule: ControlRule) -> ServerParams {
    let mut server = example(common::QUADRANT_3, &[]).server().unwrap().clone();
    let mut own = None;
    for workload in &mut server.workloads {
        if let WorkloadKind::Stream(stream) = &mut workload.kind {
            stream.cores.clear();
            own = Some(stream.clone());
        }
    }
    let stream: StreamParams = own.expect("quadrant 3 has a stream");
    let upi = UpiParams {
        bytes_per_s: 20_800_000_000,
        latency_ps: 60_000,
        data_credits: 128,
        request_credits: 128,
        data_bytes: 80,
        request_bytes: 16,
    };
    let cores = (0..3).map(|socket| RemoteCore { socket, class: 0, stream: stream.clone() }).collect();
    server.socket_mut().remote = Some(RemoteParams { sockets: 3, upi, lines_in_flight: 40, directory: true, cores });
    server.control = Some(control(rule));
    server
}

fn start(server: &ServerParams) -> Simulation<Machine> {
    build::one_server(server)
}

fn watcher(simulation: &mut Simulation<Machine>) -> &Control {
    settled(simulation).control().expect("something watches")
}

/// Returns the lines that the core of each remote socket has requested since the last reset.
fn lines(simulation: &mut Simulation<Machine>) -> Vec<u64> {
    let domains = sample::domains(settled(simulation), PoolGroup::Lfb);
    let remote = domains.iter().filter(|(part, _)| part.starts_with("remote"));
    remote.map(|(_, domain)| domain.classes().iter().map(|usage| usage.acquired()).sum()).collect()
}

fn reset(simulation: &mut Simulation<Machine>) {
    let (machine, scheduler) = &mut simulation.parts_mut()[0];
    sample::reset(machine, scheduler.now());
}

#[test]
fn the_signals_are_those_of_the_iio() {
    let mut simulation = start(&busy(ControlRule::Watch));
    run_to(&mut simulation, us(500));
    reset(&mut simulation);
    let before = *watcher(&mut simulation).signals();
    run_to(&mut simulation, us(1000));
    let machine = settled(&mut simulation);
    let [(_, write)] = sample::domains(machine, PoolGroup::P2mWrite)[..] else { panic!("one write buffer") };
    let mean = write.area_ps() as f64 / us(500).ps() as f64;
    let bandwidth = write.classes().iter().map(|usage| usage.acquired()).sum::<u64>() as f64 * 128e3;
    let signals = watcher(&mut simulation).signals();
    assert_near("I_S over the mean in use", signals.occupancy_smoothed as f64 / 1024.0 / mean, 1.0, 0.15);
    assert_near("B_S over what was inserted", signals.bandwidth_smoothed as f64 / bandwidth, 1.0, 0.05);
    assert!(before.now_ps < signals.now_ps);
}

/// Returns a server with idle drives.
fn quiet(control: ControlParams) -> Simulation<Machine> {
    let text = "[server]\npreset = \"cascade-lake-6234\"\n[workload.stream]\nkind = \"stream\"\ncores = \"0\"\n\
                reads = 1.0\n[run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n";
    let mut server = plan(text, &[]).server().unwrap().clone();
    server.control = Some(control);
    start(&server)
}

#[test]
fn registers_never_go_back_when_a_window_begins() {
    let mut simulation = start(&busy(ControlRule::Watch));
    let read = |simulation: &mut Simulation<Machine>| {
        let (machine, scheduler) = &mut simulation.parts_mut()[0];
        let now = scheduler.now();
        let iio = machine.first::<Iio>().expect("an IIO");
        let counter = |counter| iio.counter(counter, now);
        [counter(IioCounter::WriteOccupancy), counter(IioCounter::WriteInsertions)]
    };
    run_to(&mut simulation, us(100));
    let machine = settled(&mut simulation);
    let [(_, write)] = sample::domains(machine, PoolGroup::P2mWrite)[..] else { panic!("one write buffer") };
    let entry_clocks = write.area_ps() / 2000;
    let inserted: u64 = write.classes().iter().map(|usage| usage.acquired()).sum();
    let first = read(&mut simulation);
    assert_eq!(first, [entry_clocks, inserted]);
    reset(&mut simulation);
    assert_eq!(read(&mut simulation), first);
    run_to(&mut simulation, us(101));
    let later = read(&mut simulation);
    assert!(later[0] > first[0] && later[1] > first[1]);
}

#[test]
fn a_control_loop_takes_as_long_as_its_register_read() {
    for (spread, tolerance) in [(0, 0.001), (300_000, 0.02)] {
        let params = ControlParams { read_spread_ps: spread, ..control(ControlRule::Watch) };
        let mut simulation = quiet(params);
        run_to(&mut simulation, us(6000));
        let samples = watcher(&mut simulation).counts().samples;
        for count in samples {
            assert_near("samples", count as f64 / (us(6000).ps() as f64 / 600_000.0), 1.0, tolerance);
        }
    }
}

#[test]
fn a_fixed_level_is_reached_register_by_register() {
    for level in 0..=LEVEL_MAX {
        let mut simulation = start(&busy(ControlRule::Fixed(level)));
        run_to(&mut simulation, us(200));
        let counts = watcher(&mut simulation).counts().clone();
        let levels: Vec<u8> = counts.history.iter().map(|&(_, level)| level).collect();
        assert_eq!(levels, (1..=level).collect::<Vec<_>>());
        assert_eq!(counts.writes, u64::from(level.min(3)));
        let times: Vec<Time> = counts.history.iter().map(|&(at, _)| at).collect();
        for pair in times[..times.len().min(3)].windows(2) {
            assert_eq!(pair[1].since(pair[0]), WRITE_PS, "a write holds the next one up");
        }
        assert_eq!(counts.levels_ps.iter().sum::<u64>(), us(200).ps());
        assert_eq!(counts.stops, u64::from(level == LEVEL_MAX));
    }
}

#[test]
fn each_level_throttles_its_sockets() {
    let free = {
        let mut simulation = start(&busy(ControlRule::Fixed(0)));
        run_to(&mut simulation, us(200));
        reset(&mut simulation);
        run_to(&mut simulation, us(400));
        lines(&mut simulation)
    };
    for level in 1..=LEVEL_MAX {
        let mut simulation = start(&busy(ControlRule::Fixed(level)));
        run_to(&mut simulation, us(200));
        reset(&mut simulation);
        run_to(&mut simulation, us(400));
        for (socket, (&free, &lines)) in free.iter().zip(&lines(&mut simulation)).enumerate() {
            match level {
                LEVEL_MAX => assert_eq!(lines, 0, "socket {socket} is stopped"),
                _ if socket < usize::from(level) => {
                    assert!(lines * 3 < free * 2, "socket {socket} at {level}: {lines}")
                }
                _ => assert!(lines * 10 > free * 9, "socket {socket} at {level} is free: {lines} of {free}"),
            }
        }
    }
}

/// Stateless controller that follows a timetable of levels.
#[derive(Clone, Debug)]
struct Timetable(&'static [(u64, u8)]);

impl Controller for Timetable {
    fn on_sample(&mut self, signals: &Signals) -> Actions {
        let due = self.0.iter().rev().find(|(at_us, _)| signals.now_ps >= at_us * 1_000_000);
        Actions { level: due.map(|&(_, level)| level), echo: None }
    }
}

fn guided(timetable: &'static [(u64, u8)]) -> Simulation<Machine> {
    let mut simulation = start(&busy(ControlRule::User("timetable".to_owned())));
    let machine = &mut simulation.parts_mut()[0].0;
    assert_eq!(machine.control().and_then(Control::missing), Some("timetable"));
    machine.attach_controller(Box::new(Timetable(timetable))).expect("a rule from outside is wanted");
    assert_eq!(machine.control().and_then(Control::missing), None);
    simulation
}

#[test]
fn stopped_processes_resume() {
    let mut simulation = guided(&[(0, 4), (300, 3), (500, 0)]);
    run_to(&mut simulation, us(250));
    reset(&mut simulation);
    run_to(&mut simulation, us(300));
    assert_eq!(lines(&mut simulation), [0; 3]);
    run_to(&mut simulation, us(310));
    let throttled = lines(&mut simulation);
    assert!(throttled.iter().all(|&lines| lines > 0), "{throttled:?}");
    let at: Vec<u8> = watcher(&mut simulation).counts().history.iter().map(|&(_, level)| level).collect();
    assert_eq!(at, [3]);
    run_to(&mut simulation, us(600));
    assert_eq!(watcher(&mut simulation).level(), 0);
    reset(&mut simulation);
    run_to(&mut simulation, us(610));
    let free = lines(&mut simulation);
    assert!(free.iter().zip(&throttled).all(|(free, throttled)| free > throttled), "{free:?}, {throttled:?}");
}

#[test]
fn a_register_write_delays_the_second_loop_by_22_us() {
    let mut simulation = guided(&[(0, 0), (100, 1)]);
    run_to(&mut simulation, us(101));
    let before = watcher(&mut simulation).counts().clone();
    run_to(&mut simulation, us(121));
    let during = watcher(&mut simulation).counts().clone();
    assert_eq!(watcher(&mut simulation).level(), 0, "not before it is written");
    assert!(during.samples[1] <= before.samples[1] + 1, "{:?}, {:?}", before.samples, during.samples);
    assert!(during.samples[0] >= before.samples[0] + 25, "the first loop goes on");
    run_to(&mut simulation, us(124));
    let (at, level) = watcher(&mut simulation).counts().history[0];
    assert_eq!(level, 1);
    let asked = at.ps() - WRITE_PS;
    assert!((100_000_000..100_700_000).contains(&asked), "asked at the first sample from 100 us on: {asked}");
}

#[test]
fn control_ends_congestion() {
    // The host of this test is congested at another occupancy than that of the paper.
    let mut simulation = start(&busy(ControlRule::Watch));
    run_to(&mut simulation, us(500));
    let loaded = *watcher(&mut simulation).signals();
    let mut idle = start(&busy(ControlRule::Fixed(4)));
    run_to(&mut idle, us(500));
    let alone = *watcher(&mut idle).signals();
    assert!(loaded.bandwidth_smoothed * 10 < alone.bandwidth_smoothed * 9, "{loaded:?} and {alone:?}");
    assert!(loaded.occupancy_smoothed > alone.occupancy_smoothed, "{loaded:?} and {alone:?}");
    let params = HostCcParams {
        occupancy: (loaded.occupancy_smoothed + alone.occupancy_smoothed) / 2,
        target_bytes_per_s: alone.bandwidth_smoothed * 19 / 20,
        bandwidth_ceiling: u64::MAX,
        ..hostcc()
    };
    let mut simulation = start(&busy(ControlRule::HostCc(params)));
    run_to(&mut simulation, us(1200));
    let control = watcher(&mut simulation);
    assert!(control.counts().levels_ps[0] < us(600).ps(), "{:?}", control.counts());
    assert!(control.signals().bandwidth_smoothed > loaded.bandwidth_smoothed, "{:?}", control.signals());
    let in_regimes: u64 = control.counts().regimes_ps.iter().sum();
    assert!(in_regimes > us(1198).ps() && in_regimes < us(1200).ps(), "all but the time to the first samples");
    assert!(control.counts().echo_ps > 0);
    drain(&mut simulation);
}

#[test]
fn a_sender_samples_its_reads() {
    let read = |job: &str| {
        let setting = format!("workload.disk.job={job}");
        let mut server = example(common::QUADRANT_3, &[&setting]).server().unwrap().clone();
        server.control = Some(ControlParams { sender: true, ..control(ControlRule::Watch) });
        let mut simulation = start(&server);
        run_to(&mut simulation, us(300));
        let Signals { occupancy_smoothed, bandwidth_smoothed, .. } = *watcher(&mut simulation).signals();
        (occupancy_smoothed >> 10, bandwidth_smoothed)
    };
    let (occupancy, bandwidth) = read("quadrant-write.fio");
    assert!(occupancy > 20 && bandwidth > 5_000_000_000, "{occupancy} lines, {bandwidth} bytes per s");
    let (_, bandwidth) = read("quadrant.fio");
    assert!(bandwidth < 1_000_000_000, "what the drives write is not read: {bandwidth} bytes per s");
}

#[test]
fn glitches_are_discarded() {
    let params = HostCcParams { occupancy_floor: 1 << 20, bandwidth_ceiling: 0, ..hostcc() };
    let mut simulation = start(&busy(ControlRule::HostCc(params)));
    run_to(&mut simulation, us(50));
    let control = watcher(&mut simulation);
    assert_eq!(control.counts().samples, control.counts().discarded);
    assert!(control.counts().samples.iter().all(|&samples| samples > 50));
    assert_eq!(
        (control.signals().occupancy_smoothed, control.signals().bandwidth_smoothed, control.level()),
        (0, 0, 0)
    );
}

#[test]
fn cores_of_this_socket_are_throttled_when_there_are_no_others() {
    for caches in ["false", "true"] {
        let moved = |level| {
            let enabled = format!("cache.enabled={caches}");
            let small = ["cache.l2.sets=64", "cache.llc.sets=64", "cache.filter.sets=128"];
            let mut server =
                example(common::QUADRANT_3, &[&[enabled.as_str()], &small[..]].concat()).server().unwrap().clone();
            server.control = Some(control(ControlRule::Fixed(level)));
            let mut simulation = start(&server);
            run_to(&mut simulation, us(100));
            reset(&mut simulation);
            run_to(&mut simulation, us(200));
            let channels = common::counters(settled(&mut simulation), us(200));
            channels.iter().flat_map(|channel| channel.reads.to_vec()).sum()
        };
        let lines: Vec<u64> = (0..=LEVEL_MAX).map(moved).collect();
        // If bandwidth rather than latency limits a core, the first of three throttle levels may cost nothing.
        assert!(
            lines[1] * 20 < lines[0] * 21 && lines[2] < lines[1] && lines[3] < lines[2],
            "caches {caches}: {lines:?}"
        );
        assert!(lines[4] * 10 < lines[0], "caches {caches}: {lines:?}");
    }
}

#[test]
fn a_run_is_reproducible_and_goes_on_from_a_checkpoint() {
    let server =
        busy(ControlRule::HostCc(HostCcParams { target_bytes_per_s: u64::MAX >> 20, occupancy: 0, ..hostcc() }));
    let whole = {
        let mut simulation = start(&server);
        run_to(&mut simulation, us(200));
        simulation
    };
    let mut half = start(&server);
    run_to(&mut half, us(90));
    let bytes = checkpoint::write("a", &half).expect("a simulation can be written");
    let mut resumed: Simulation<Machine> = checkpoint::read("a", &bytes).expect("and read");
    run_to(&mut resumed, us(200));
    run_to(&mut half, us(200));
    let hashes =
        [&whole, &half, &resumed].map(|simulation| hash(simulation.parts().iter().map(|(machine, _)| machine)));
    assert!(hashes.windows(2).all(|pair| pair[0] == pair[1]), "{hashes:?}");
}

/// Controller that counts bandwidth samples, and raises the level once per hundred.
#[derive(Clone, Debug, Default)]
struct Patient(u64);

impl Controller for Patient {
    fn on_sample(&mut self, signals: &Signals) -> Actions {
        self.0 += u64::from(signals.sampled == Sampled::Bandwidth);
        Actions { level: Some((self.0 / 100) as u8), echo: None }
    }

    fn state(&self) -> Option<Vec<u8>> {
        Some(self.0.to_le_bytes().to_vec())
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), String> {
        let bytes = state.try_into().map_err(|_| "a state of 8 bytes".to_owned())?;
        self.0 = u64::from_le_bytes(bytes);
        Ok(())
    }
}

#[test]
fn a_controller_with_state_resumes_from_a_checkpoint() {
    let server = busy(ControlRule::User("patient".to_owned()));
    let mut whole = start(&server);
    whole.parts_mut()[0].0.attach_controller(Box::new(Patient::default())).expect("attached");
    run_to(&mut whole, us(100));
    let bytes = checkpoint::write("a", &whole).expect("it gives its state");
    let mut resumed: Simulation<Machine> = checkpoint::read("a", &bytes).expect("a checkpoint");
    resumed.parts_mut()[0].0.attach_controller(Box::new(Patient::default())).expect("attached again");
    for simulation in [&mut whole, &mut resumed] {
        run_to(simulation, us(300));
    }
    assert!(watcher(&mut whole).level() > 0);
    assert_eq!(watcher(&mut whole).counts(), watcher(&mut resumed).counts());
    let mut damaged: Simulation<Machine> = checkpoint::read("a", &bytes).expect("a checkpoint");
    let error = damaged.parts_mut()[0].0.attach_controller(Box::new(Timetable(&[])));
    assert_eq!(error, Err("the controller \"patient\": this controller cannot be continued".to_owned()));
}

#[test]
fn a_controller_without_state_is_refused_in_a_checkpoint() {
    let mut simulation = guided(&[(0, 1)]);
    run_to(&mut simulation, us(10));
    assert!(checkpoint::write("a", &simulation).is_err());
    let error = watcher(&mut simulation).check_state().expect_err("it gives none");
    assert!(error.contains("\"timetable\" does not give its state"), "{error}");
    assert!(serde_json::to_value(settled(&mut simulation)).is_ok(), "what is read by people does without");
}

#[test]
fn a_controller_without_the_user_rule_is_refused() {
    let mut simulation = start(&busy(ControlRule::Watch));
    let machine = &mut simulation.parts_mut()[0].0;
    let error = machine.attach_controller(Box::new(Patient::default()));
    assert_eq!(error, Err("the rule of this host is not one from outside".to_owned()));
}

proptest! {
    #![proptest_config(common::laws::cases(8))]

    /// A constant occupancy is the signal, up to the rounding of the register and of the average.
    #[test]
    fn constant_occupancy_is_the_signal(entries in 1_u32..93, spread in 0_u64..500_000) {
        let mut server = busy(ControlRule::Watch);
        server.control = Some(ControlParams { read_spread_ps: spread, ..control(ControlRule::Watch) });
        // Entries that are acquired are never returned.
        server.socket_mut().iio.write_credits = entries;
        server.socket_mut().iio.write_ack_ps = us(10_000_000).ps();
        let mut simulation = start(&server);
        run_to(&mut simulation, us(400));
        let signals = watcher(&mut simulation).signals();
        prop_assert!(signals.occupancy.abs_diff(u64::from(entries) << 10) <= 1024 * 2 / 50 + 1, "{signals:?}");
        prop_assert!(signals.occupancy_smoothed.abs_diff(u64::from(entries) << 10) <= 60, "{signals:?}");
        prop_assert_eq!(signals.bandwidth, 0);
    }
}
