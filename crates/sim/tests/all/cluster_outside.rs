//! Tests external components of a cluster run: controllers, governors, and captures.

use etherparse::{SlicedPacket, TransportSlice};
use hostnet_config::{resolve, Format, Input, Plan};
use hostnet_kernel::Time;
use hostnet_model::control::{Actions, Controller, Signals};
use hostnet_model::power::{Governor, Look};
use hostnet_model::Packet;
use hostnet_sim::frames::FrameEncoder;
use hostnet_sim::{MissingComponent, Options, Run};
use std::path::Path;

const RULE: &str = "host.receiver.control.rule=user";
const GOVERNOR: &str = r#"host.receiver.power.governor={ kind = "user", period = "20 us" }"#;

fn plan(overrides: &[&str]) -> Plan {
    let mut all: Vec<String> = ["run.warmup=0 us", "run.duration=200 us"].map(str::to_owned).to_vec();
    all.extend(overrides.iter().map(|&text| text.to_owned()));
    let text = hostnet_config::cluster_template("hostcc").expect("a template");
    let input = Input { text, format: Format::Toml, file: "hostcc.toml", base_dir: Path::new("."), overrides: &all };
    resolve(&input).expect("a template is legal")
}

fn recorded(plan: &Plan, host: &str, threads: usize) -> (Vec<(Time, Packet)>, String) {
    let mut run = Run::new(plan, Options { threads, ..Options::default() });
    run.record(host).expect("a host");
    let mut all = Vec::new();
    let complete = run.run_recorded(
        |_| true,
        |packets| {
            all.extend_from_slice(packets);
            true
        },
    );
    assert_eq!(complete, Ok(true));
    (all, run.report().result_hash)
}

#[test]
fn a_capture_has_every_packet_and_changes_nothing() {
    let plan = plan(&[]);
    let mut run = Run::new(&plan, Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    let report = run.report();
    let (one, hash) = recorded(&plan, "receiver", 1);
    assert_eq!(hash, report.result_hash);
    assert_eq!(recorded(&plan, "receiver", 2).0, one);
    let receiver = plan.cluster.hosts.iter().position(|host| host.name == "receiver").expect("a receiver") as u16;
    let hosts = report.table("hosts").expect("a table");
    let came = one.iter().filter(|(_, packet)| packet.to == receiver).count();
    assert_eq!(hosts.number(&hosts.rows[0], "nic_received"), Some(came as f64));
    assert!(came > 50 && one.windows(2).all(|pair| pair[0].0 <= pair[1].0));
}

#[test]
fn frames_of_a_capture_are_those_that_an_independent_parser_reads() {
    let plan = plan(&[]);
    let (packets, _) = recorded(&plan, "sender", 1);
    let mut frames = FrameEncoder::new(&plan.cluster.flows);
    for (_, packet) in &packets {
        let frame = frames.of(packet);
        let sliced = SlicedPacket::from_ethernet(frame).expect("a frame");
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("no TCP") };
        let initiator = u32::from(tcp.source_port().max(tcp.destination_port())) - 10_000;
        assert_eq!(initiator, packet.flow);
        assert!(frame.len() >= 14 + packet.ip_bytes as usize);
    }
}

#[test]
fn a_host_that_is_not_there_cannot_be_recorded() {
    let mut run = Run::new(&plan(&[]), Options::default());
    let error = run.record("recevier").expect_err("no host");
    assert_eq!(error.to_string(), "recevier: no such host; did you mean \"receiver\"?");
}

/// Controller that selects a fixed level and always marks.
#[derive(Clone, Debug)]
struct To(u8);

impl Controller for To {
    fn on_sample(&mut self, _signals: &Signals) -> Actions {
        Actions { level: Some(self.0), echo: Some(true) }
    }
}

#[test]
fn a_controller_from_outside_decides() {
    let plan = plan(&[RULE]);
    let mut run = Run::new(&plan, Options::default());
    assert_eq!(run.user_controlled_hosts(), ["receiver"]);
    let missing = run.run(|_| true).expect_err("no controller").to_string();
    assert!(missing.starts_with("receiver: control.rule is \"user\""), "{missing}");
    run.attach("receiver", Box::new(To(1))).expect("it fits");
    assert_eq!(run.run(|_| true), Ok(true));
    let report = run.report();
    let control = report.table("control").expect("a table");
    assert_eq!(control.number(&control.rows[0], "level_end"), Some(1.0));
    assert_eq!(control.number(&control.rows[0], "level_changes"), Some(1.0));
}

#[test]
fn a_controller_fits_only_a_host_with_the_rule_for_it() {
    let says = |plan: &Plan, host: &str| {
        Run::new(plan, Options::default()).attach(host, Box::new(To(1))).expect_err("does not fit").why
    };
    assert!(says(&plan(&[RULE]), "sender").starts_with("is an endpoint"));
    assert!(says(&plan(&[]), "receiver").starts_with("its rule is not \"user\""));
}

#[test]
fn a_controller_without_state_is_no_part_of_a_checkpoint() {
    let options = Options { checkpoint_at_ps: 100_000_000, ..Options::default() };
    let mut run = Run::new(&plan(&[RULE]), options);
    run.attach("receiver", Box::new(To(1))).expect("it fits");
    let error = run.check_controllers().expect_err("no state");
    assert!(error.why.contains("does not give its state"), "{error}");
}

/// Governor that selects a fixed P-state.
#[derive(Clone, Debug)]
struct Stays(usize);

impl Governor for Stays {
    fn decide(&mut self, _look: &Look) -> usize {
        self.0
    }
}

#[test]
fn a_governor_from_outside_decides_and_without_it_nothing_runs() {
    let mut run = Run::new(&plan(&[GOVERNOR]), Options::default());
    let error = run.check_controllers().expect_err("no governor");
    assert_eq!((error.host.as_str(), error.missing), ("receiver", Some(MissingComponent::Governor)));
    let missing = run.run(|_| true).expect_err("no governor").to_string();
    assert!(missing.starts_with("receiver: power.governor is \"user\""), "{missing}");
    run.attach_governor("receiver", Box::new(Stays(3))).expect("it fits");
    assert_eq!(run.run(|_| true), Ok(true));
    let report = run.report();
    let frequencies = report.table("frequencies").expect("a table");
    assert!(frequencies.rows.len() >= 2, "from the fastest to the fourth");
}

#[test]
fn a_governor_fits_only_a_host_that_wants_one() {
    let says = |plan: &Plan, host: &str| {
        Run::new(plan, Options::default()).attach_governor(host, Box::new(Stays(1))).expect_err("does not fit").why
    };
    assert!(says(&plan(&[GOVERNOR]), "sender").starts_with("is an endpoint"));
    assert!(says(&plan(&[GOVERNOR]), "recevier").starts_with("no such host; did you mean \"receiver\""));
    assert!(says(&plan(&[]), "receiver").starts_with("its governor is not \"user\"; set host.receiver.power.governor"));
}

#[test]
fn a_governor_without_state_is_no_part_of_a_checkpoint() {
    let once = Options { checkpoint_at_ps: 100_000_000, ..Options::default() };
    let again = Options { checkpoint_every_ps: 100_000_000, ..Options::default() };
    for options in [once, again] {
        let mut run = Run::new(&plan(&[GOVERNOR]), options);
        run.attach_governor("receiver", Box::new(Stays(1))).expect("it fits");
        let error = run.check_controllers().expect_err("no state");
        assert!(error.why.contains("does not give its state"), "{error}");
    }
}
