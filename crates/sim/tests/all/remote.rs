//! Tests cores of remote sockets: consequences of the parameters of UPI and MBA.

use crate::common::laws::{assert_books, assert_little, cases, drain, run_to};
use crate::common::results::assert_near;
use crate::common::{acquired, counters, settled, stream, us};
use hostnet_kernel::Simulation;
use hostnet_measure::Domain;
use hostnet_model::params::{
    AccessPattern, RemoteCore, RemoteParams, ServerParams, StreamParams, UpiParams, WorkloadKind,
};
use hostnet_model::{Machine, PartKind, Payload};
use hostnet_sim::build;
use hostnet_sim::sample::{self, PoolGroup};
use proptest::prelude::*;

const UPI: UpiParams = UpiParams {
    bytes_per_s: 20_800_000_000,
    latency_ps: 60_000,
    data_credits: 128,
    request_credits: 128,
    data_bytes: 80,
    request_bytes: 16,
};

/// Returns a server whose only traffic is that of one core on each of `sockets` remote sockets.
fn server(sockets: u32, lines: u32, reads: f64, upi: UpiParams) -> ServerParams {
    let mut server = stream("0", reads, &["core.lfb.refill=0 ns", "core.issue=0 ns"]).server().unwrap().clone();
    let WorkloadKind::Stream(stream) = &mut server.workloads[0].kind else { panic!("a stream") };
    let core = |socket| RemoteCore { socket, class: 0, stream: StreamParams { cores: Vec::new(), ..stream.clone() } };
    let cores = (0..sockets).map(core).collect();
    stream.cores.clear();
    server.socket_mut().remote = Some(RemoteParams { sockets, upi, lines_in_flight: lines, directory: false, cores });
    server
}

/// Returns the server with random lines instead, so that rows opened before do not matter.
fn random(mut server: ServerParams) -> ServerParams {
    let cores = server.socket_mut().remote.iter_mut().flat_map(|remote| &mut remote.cores);
    cores.for_each(|core| core.stream.pattern = AccessPattern::Random);
    server
}

/// Returns a server with one local core that has one random line in flight.
fn local(reads: f64) -> ServerParams {
    let settings = ["core.lfb.entries=1", "core.lfb.refill=0 ns", "core.issue=0 ns", "workload.stream.pattern=random"];
    stream("0", reads, &settings).server().unwrap().clone()
}

fn run(server: &ServerParams, until_us: u64) -> Simulation<Machine> {
    let mut simulation = build::one_server(server);
    run_to(&mut simulation, us(until_us));
    simulation
}

fn mean_ns(domain: &Domain) -> f64 {
    let residence = domain.classes()[0].residence();
    residence.sum() as f64 / residence.count() as f64 / 1000.0
}

fn only(machine: &Machine, group: PoolGroup) -> &Domain {
    let [(_, domain)] = sample::domains(machine, group)[..] else { panic!("one domain of {}", group.name()) };
    domain
}

/// Returns the bytes per second of the lines that returned their credit in `group`.
fn bytes_per_s(machine: &Machine, group: PoolGroup, until_us: u64) -> f64 {
    let domains = sample::domains(machine, group);
    let lines: u64 = domains.iter().map(|(_, domain)| domain.classes()[0].residence().count()).sum();
    lines as f64 * 64.0 / (until_us as f64 * 1e-6)
}

fn wire_ns(bytes: u32) -> f64 {
    f64::from(bytes) / UPI.bytes_per_s as f64 * 1e9
}

#[test]
fn a_lone_line_takes_a_upi_round_trip_longer() {
    let mut local = run(&local(1.0), 400);
    let local_ns = mean_ns(only(settled(&mut local), PoolGroup::C2mRead));
    let mut remote = run(&random(server(1, 1, 1.0, UPI)), 400);
    let remote_ns = mean_ns(only(settled(&mut remote), PoolGroup::C2mRead));
    let way_ns = 2.0 * 60.0 + wire_ns(UPI.request_bytes) + wire_ns(UPI.data_bytes);
    assert_near("remote less local latency in ns", remote_ns - local_ns, way_ns, 1.0);
}

#[test]
fn a_lone_write_back_waits_for_an_answer_of_the_other_socket() {
    let hold_ns = |server: &ServerParams| mean_ns(only(settled(&mut run(server, 400)), PoolGroup::C2mWrite));
    let way_ns = 2.0 * 60.0 + wire_ns(UPI.request_bytes) + wire_ns(UPI.data_bytes);
    let longer = hold_ns(&random(server(1, 1, 0.0, UPI))) - hold_ns(&local(0.0));
    assert_near("remote less local C2M-Write in ns", longer, way_ns, 1.0);
}

#[test]
fn a_core_moves_what_it_has_in_flight_per_latency() {
    for lines in [1, 8, 20] {
        let mut simulation = run(&server(1, lines, 1.0, UPI), 200);
        let machine = settled(&mut simulation);
        let latency_s = mean_ns(only(machine, PoolGroup::C2mRead)) * 1e-9;
        let law = f64::from(lines) * 64.0 / latency_s;
        let found = bytes_per_s(machine, PoolGroup::C2mRead, 200);
        assert_near(&format!("{lines} lines in flight"), found / law, 1.0, 0.01);
    }
}

#[test]
fn a_direction_carries_no_more_than_its_bandwidth() {
    let slow = UpiParams { bytes_per_s: 5_000_000_000, ..UPI };
    let mut simulation = run(&server(1, 40, 1.0, slow), 200);
    let found = bytes_per_s(settled(&mut simulation), PoolGroup::C2mRead, 200);
    assert_near("share of what the wire can carry", found / (5e9 * 64.0 / 80.0), 1.0, 0.01);
}

#[test]
fn the_credits_of_data_bound_a_direction() {
    // A data credit is held for the time on the wire and the latency in each direction.
    let few = UpiParams { data_credits: 4, ..UPI };
    let mut simulation = run(&server(1, 40, 1.0, few), 200);
    let machine = settled(&mut simulation);
    let data = only(machine, PoolGroup::UpiData);
    assert_eq!((data.in_use_max(), data.capacity()), (4, 4));
    let law = 4.0 * 64.0 / ((2.0 * 60.0 + wire_ns(80)) * 1e-9);
    assert_near("share of credits per round trip", bytes_per_s(machine, PoolGroup::C2mRead, 200) / law, 1.0, 0.02);
}

#[test]
fn one_line_waits_with_one_credit_less_than_lines() {
    let full_ps = |credits, lines| {
        let upi = UpiParams { request_credits: credits, ..UPI };
        let mut simulation = run(&server(1, lines, 1.0, upi), 100);
        let request = only(settled(&mut simulation), PoolGroup::UpiRequest);
        (request.in_use_max(), mean_ns(only(settled(&mut simulation), PoolGroup::C2mRead)))
    };
    // Two reads leave together: with one credit, the second waits until the credit of the first is back.
    let (most, slow_ns) = full_ps(1, 2);
    assert_eq!(most, 1);
    let (most, free_ns) = full_ps(2, 2);
    assert_eq!(most, 2);
    let (_, more_ns) = full_ps(3, 2);
    assert!((free_ns - more_ns).abs() < 1e-9, "two credits are enough for two lines: {free_ns} and {more_ns} ns");
    assert!(slow_ns > free_ns + 10.0, "one credit: {slow_ns} ns, two: {free_ns} ns");
}

#[test]
fn stores_write_the_directory_and_loads_do_not() {
    for (reads, share) in [(0.0, 2.0), (0.5, 1.0), (1.0, 0.0)] {
        let mut server = server(1, 10, reads, UPI);
        if let Some(remote) = &mut server.socket_mut().remote {
            remote.directory = true;
        }
        let mut simulation = run(&server, 200);
        drain(&mut simulation);
        let now = simulation.progress().time;
        let machine = settled(&mut simulation);
        let reads: u64 = counters(machine, now).iter().flat_map(|count| count.reads.to_vec()).sum();
        let writes: u64 = counters(machine, now).iter().flat_map(|count| count.writes.to_vec()).sum();
        assert_near("writes per read", writes as f64 / reads as f64, share, 0.02);
    }
}

/// Sends an event to the only core of a remote socket.
fn tell(simulation: &mut Simulation<Machine>, payload: Payload) {
    let (machine, scheduler) = &mut simulation.parts_mut()[0];
    let core = machine.id(PartKind::Remote).expect("a core of another socket");
    scheduler.send(core, core, 1, payload);
}

#[test]
fn mba_adds_its_latency_to_every_read() {
    let plain_ns = mean_ns(only(settled(&mut run(&random(server(1, 10, 1.0, UPI)), 200)), PoolGroup::C2mRead));
    for ps in [1, 500_000, 2_000_000] {
        let mut simulation = run(&random(server(1, 10, 1.0, UPI)), 10);
        tell(&mut simulation, Payload::Throttle { ps });
        run_to(&mut simulation, us(20));
        let (machine, scheduler) = &mut simulation.parts_mut()[0];
        sample::reset(machine, scheduler.now());
        run_to(&mut simulation, us(220));
        let machine = settled(&mut simulation);
        let slow_ns = mean_ns(only(machine, PoolGroup::C2mRead));
        // Idle memory closes its rows in between, and opening them takes some ns more.
        assert_near("latency added in ns", slow_ns - plain_ns, f64::from(ps) / 1000.0, 8.0);
        let law = 640.0 / (slow_ns * 1e-9);
        assert_near("share of the law", bytes_per_s(machine, PoolGroup::C2mRead, 200) / law, 1.0, 0.01);
    }
}

#[test]
fn a_halted_core_completes_its_lines_and_resumes() {
    let mut simulation = run(&server(1, 10, 0.5, UPI), 10);
    tell(&mut simulation, Payload::Halt { on: true });
    run_to(&mut simulation, us(15));
    let lines = |simulation: &mut Simulation<Machine>| acquired(settled(simulation), PoolGroup::Lfb, 0);
    let halted = lines(&mut simulation);
    assert_eq!(only(settled(&mut simulation), PoolGroup::Lfb).in_use(), 0, "what was in flight has ended");
    run_to(&mut simulation, us(30));
    assert_eq!(lines(&mut simulation), halted, "nothing begins");
    tell(&mut simulation, Payload::Halt { on: false });
    run_to(&mut simulation, us(31));
    assert_eq!(only(settled(&mut simulation), PoolGroup::Lfb).in_use_max(), 10, "every entry is used again");
    assert!(lines(&mut simulation) > halted + 10);
}

proptest! {
    #![proptest_config(cases(24))]

    /// For any credits and streams, the statistics are consistent and everything completes.
    #[test]
    fn nothing_is_lost_between_sockets(
        sockets in 1_u32..4, lines in 1_u32..30, reads in 0_u8..=4, credits in (1_u32..20, 1_u32..20), directory: bool,
        bandwidth in 1_u64..40, latency_ps in 1_u64..200_000, shuffled: bool, cached: bool,
    ) {
        let upi = UpiParams {
            bytes_per_s: bandwidth * 1_000_000_000,
            latency_ps,
            request_credits: credits.0,
            data_credits: credits.1,
            ..UPI
        };
        let mut server = server(sockets, lines, f64::from(reads) / 4.0, upi);
        if cached {
            let cached = stream("0", 1.0, &["cache.enabled=true"]);
            server.socket_mut().cache = cached.server().unwrap().socket().cache.clone();
        }
        if let Some(remote) = &mut server.socket_mut().remote {
            remote.directory = directory;
        }
        let server = if shuffled { random(server) } else { server };
        let mut simulation = run(&server, 30);
        assert_books(settled(&mut simulation));
        drain(&mut simulation);
        let machine = settled(&mut simulation);
        assert_books(machine);
        assert_little(machine);
        prop_assert_eq!(acquired(machine, PoolGroup::UpiRequest, 0), acquired(machine, PoolGroup::UpiData, 0));
        prop_assert_eq!(acquired(machine, PoolGroup::UpiWriteBack, 0), acquired(machine, PoolGroup::UpiAnswer, 0));
        prop_assert_eq!(acquired(machine, PoolGroup::UpiRequest, 0), acquired(machine, PoolGroup::C2mRead, 0));
        prop_assert_eq!(acquired(machine, PoolGroup::UpiWriteBack, 0), acquired(machine, PoolGroup::C2mWrite, 0));
    }
}
