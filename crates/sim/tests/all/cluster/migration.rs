//! Tests threads that migrate to other cores while their flows run.

use crate::cluster::lab::{drain, nic, plan, run, servers};
use crate::cluster::stats::{assert_conserved, streams};
use crate::common::us;
use hostnet_kernel::{checkpoint, Simulation};
use hostnet_model::nic::DropReason;
use hostnet_model::os::NetStack;
use hostnet_model::World;
use proptest::prelude::*;

/// Returns a cluster with a server of two sockets, with more keys, and one flow. Cores from 14 on are on the second
/// socket.
pub fn server(keys: &str, flow: &str) -> String {
    format!(
        "[host.server]\npreset = \"broadwell-r730\"\n{keys}\n[host.peer]\nkind = \"endpoint\"\n\
         [network]\ntopology = \"direct\"\nlatency = \"10 ns\"\n\
         [transport.joined]\nbase = \"cubic\"\nack_segments = 44\nack_delay = \"50 us\"\n\
         receive_buffer = \"512 KiB\"\ntail_loss_probe = false\n{flow}\n"
    )
}

pub const OCTO: &str = "cache.enabled = true\nnic.ddio = true\nnic.functions = [{ socket = 0 }, { socket = 1 }]\n";

fn flow(keys: &str) -> String {
    format!("[flow.f]\nkind = \"bulk\"\ntransport = \"joined\"\n{keys}\n")
}

const INTO: &str = "from = \"peer\"\nto = \"server\"\nto_cores = \"0\"";
const OUT_OF: &str = "from = \"server\"\nto = \"peer\"\nfrom_cores = \"0\"";

/// Returns the bytes that each function of the server's NIC wrote and read.
pub fn through(simulation: &Simulation<World>) -> [[u64; 2]; 2] {
    [0, 1].map(|function| nic(servers(simulation)[0]).moved_bytes(function))
}

/// Asserts that nothing was retransmitted, dropped, lost or reordered, and that everything has arrived once the world
/// is empty.
pub fn assert_in_order(simulation: &mut Simulation<World>, what: &str) {
    drain(simulation);
    assert_conserved(simulation, nic(servers(simulation)[0]).flows().len());
    for machine in servers(simulation) {
        assert!(nic(machine).flows().iter().all(|flow| flow.dropped_in_all().packets == 0), "{what}");
        assert_eq!(machine.engines::<NetStack>().map(|stack| stack.counts().strangers).sum::<u64>(), 0, "{what}");
    }
    let ends = streams(simulation);
    let bytes = |pick: fn(&hostnet_model::transport::tcp::Counters) -> u64| {
        ends.iter().map(|end| pick(end.connection.counters())).sum::<u64>()
    };
    assert_eq!(bytes(|end| end.packets_retransmitted), 0, "{what}");
    assert_eq!(bytes(|end| end.segments_early), 0, "{what}");
    assert_eq!(bytes(|end| end.bytes_sent), bytes(|end| end.bytes_received), "{what}");
}

#[test]
fn packets_follow_a_thread_to_the_function_of_its_socket() {
    for (ends, way) in [(INTO, 0), (OUT_OF, 1)] {
        let keys = format!("{ends}\nmove = [{{ at = \"300 us\", core = 14 }}]");
        let plan = plan(&server(OCTO, &flow(&keys)));
        let mut simulation = run(&plan, 300);
        let at_first = through(&simulation);
        assert!(at_first[0][way] > 100_000 && at_first[1] == [0, 0], "{at_first:?} {keys}");
        // Packets in flight still use the old function.
        simulation.run_until(us(900), |_| true);
        let before = through(&simulation);
        simulation.run_until(us(1100), |_| true);
        let after = through(&simulation);
        assert!(after[1][way] > before[1][way] + 100_000, "{before:?}, {after:?} {keys}");
        assert_eq!(after[0], before[0], "{keys}");
        assert_in_order(&mut simulation, &keys);
    }
}

#[test]
fn a_card_that_is_no_octopus_keeps_its_function_and_changes_the_queue() {
    let standard = format!("{OCTO}nic.mode = \"standard\"\n");
    let keys = format!("{INTO}\nmove = [{{ at = \"300 us\", core = 14 }}]");
    let mut simulation = run(&plan(&server(&standard, &flow(&keys))), 700);
    let through = through(&simulation);
    assert!(through[0][0] > 1_000_000 && through[1] == [0, 0], "{through:?}");
    let served: Vec<u64> = servers(&simulation)[0].engines::<NetStack>().map(|stack| stack.counts().packets).collect();
    assert!(served.iter().all(|packets| *packets > 100), "both queues had packets: {served:?}");
    assert_in_order(&mut simulation, "standard");
}

#[test]
fn a_rule_that_nothing_uses_is_forgotten_and_packets_still_find_their_thread() {
    let rpc =
        "[flow.f]\nkind = \"rpc\"\nfrom = \"peer\"\nto = \"server\"\nrequest = \"64 B\"\nto_cores = \"0\"\ncount = 8\n\
               think = \"200 us\"\ntransport = \"joined\"\n";
    let forgets = |expiry: &str| format!("{OCTO}stack.cores = \"0-7,14-21\"\nnic.steer_expiry = \"{expiry}\"\n");
    let [kept, forgotten] = ["10 ms", "100 us"].map(|expiry| {
        let mut simulation = run(&plan(&server(&forgets(expiry), rpc)), 5000);
        let expired = nic(servers(&simulation)[0]).counters().expired;
        let requests: u64 = streams(&simulation).iter().map(|end| end.application.requests()).sum();
        assert_in_order(&mut simulation, expiry);
        (expired, requests)
    });
    assert_eq!(kept.0, 0);
    assert!(forgotten.0 >= 100, "{forgotten:?}");
    assert!(forgotten.1.abs_diff(kept.1) * 5 < kept.1, "all are answered: {forgotten:?}, {kept:?}");
}

/// Parameters of a random world.
#[derive(Clone, Debug)]
struct Case {
    /// Migrations of the threads of the first flows: gap since the one before in us, core, and true for threads at
    /// the server.
    moves: Vec<(u32, u32, bool)>,
    count: u32,
    receives: bool,
    octo: bool,
    delay_us: u32,
    poll: bool,
    /// True for additional flows that do not migrate.
    more: bool,
    /// True for requests and answers instead of a stream.
    rpc: bool,
    /// True for a server at the other end, too.
    both: bool,
    lro: bool,
    /// True for other work on cores that threads migrate to.
    shared: bool,
    /// Time after which the NIC forgets the queue of a flow, in us; and true for UDP flows with pauses between
    /// datagrams.
    expiry_us: Option<u32>,
    datagrams: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    let core = prop_oneof![0_u32..4, 14_u32..18];
    let moves = prop::collection::vec((1_u32..150, core, any::<bool>()), 1..6);
    let expiry = prop::option::of(20_u32..200);
    (moves, 1_u32..4, 0_u32..60, expiry, any::<[bool; 9]>()).prop_map(|(moves, count, delay_us, expiry_us, flags)| {
        let [receives, octo, poll, more, rpc, both, lro, shared, datagrams] = flags;
        Case { moves, count, receives, octo, delay_us, poll, more, rpc, both, lro, shared, expiry_us, datagrams }
    })
}

impl Case {
    /// Returns the configuration. The NIC's buffer holds the windows of all flows, as one function is slower than the
    /// cable and would drop packets even without migrations.
    fn text(&self) -> String {
        let Self { octo, delay_us, poll, lro, .. } = self;
        let mode = if *octo { "octo" } else { "standard" };
        let mut keys = format!(
            "{OCTO}nic.buffer = \"4 MiB\"\nnic.mode = \"{mode}\"\nnic.steer_delay = \"{delay_us} us\"\n\
             stack.poll = {poll}\nnic.lro = {lro}\n"
        );
        if let Some(expiry) = self.expiry_us {
            keys += &format!("stack.cores = \"0-7,14-21\"\nnic.steer_expiry = \"{expiry} us\"\n");
        }
        let work = if self.shared { STREAM } else { "" };
        let text = server(&format!("{keys}{work}"), &self.flows());
        let other = format!("[host.peer]\npreset = \"broadwell-r730\"\n{keys}");
        if self.both {
            text.replace("[host.peer]\nkind = \"endpoint\"", &other)
        } else {
            text
        }
    }

    fn flows(&self) -> String {
        let ends = if self.receives { INTO } else { OUT_OF };
        let own = if self.rpc { RPC } else { "[flow.f]\nkind = \"bulk\"\ntransport = \"joined\"\n" };
        let mut flows = format!("{own}{ends}\ncount = {}\nmove = [{}]\n", self.count, self.list());
        if self.more {
            flows += &format!("[flow.g]\nkind = \"bulk\"\n{INTO}\ntransport = \"joined\"\n");
        }
        if self.datagrams {
            flows += "[flow.u]\nkind = \"datagram\"\nfrom = \"peer\"\nto = \"server\"\nto_cores = \"1,15\"\n\
                size = \"1000 B\"\nrate = \"80 Mbps\"\ncount = 2\n\
                [flow.v]\nkind = \"datagram\"\npattern = \"ping\"\nfrom = \"server\"\nto = \"peer\"\n\
                from_cores = \"2\"\nrequest = \"64 B\"\nthink = \"150 us\"\n";
        }
        flows
    }

    /// Returns the list of migrations, in the order of time. Without a server at the other end, only threads of the
    /// server migrate.
    fn list(&self) -> String {
        let mut at = 50;
        let each = self.moves.iter().map(|(gap, core, here)| {
            at += gap;
            let end = if self.receives == (*here || !self.both) { "to" } else { "from" };
            format!("{{ at = \"{at} us\", core = {core}, end = \"{end}\" }}")
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

const RPC: &str = "[flow.f]\nkind = \"rpc\"\ntransport = \"joined\"\nrequest = \"5 kB\"\nresponse = \"40 kB\"\n\
    other = { share = 0.3, request = \"64 B\", response = \"200 kB\" }\nin_flight = 3\nthink = \"30 us\"\n";
const STREAM: &str = "cache.llc.sets = 256\n\
    [host.server.workload.s]\nkind = \"stream\"\ncores = \"0,2,14\"\nreads = 0.5\nworking_set = \"1 MiB\"\n";

proptest! {
    #![proptest_config(crate::common::laws::cases(2))]

    /// Holds for several flows that migrate at once, to cores that others use already, while sending or receiving.
    #[test]
    fn nothing_is_lost_and_nothing_overtakes(case in cases()) {
        let text = case.text();
        let plan = plan(&text);
        let mut simulation = run(&plan, 600);
        assert_in_order(&mut simulation, &text);
    }
}

/// Four streams arrive through one of two functions; their windows together exceed the buffer of the preset.
#[test]
fn windows_of_several_flows_wait_in_the_buffer_of_one_function() {
    let case = Case {
        moves: vec![(107, 2, false)],
        count: 3,
        receives: true,
        octo: false,
        delay_us: 0,
        poll: true,
        more: true,
        rpc: false,
        both: false,
        lro: false,
        shared: false,
        expiry_us: Some(88),
        datagrams: true,
    };
    let mut simulation = run(&plan(&case.text()), 600);
    assert_in_order(&mut simulation, "four windows");
    let small = case.text().replace("4 MiB", "512 kB");
    let simulation = run(&plan(&small), 600);
    let dropped = nic(servers(&simulation)[0]).flows().iter().map(|flow| flow.dropped(DropReason::BufferFull).packets);
    assert!(dropped.sum::<u64>() > 0, "the smaller buffer drops");
}

#[test]
fn a_checkpoint_amid_moves_changes_nothing() {
    let moves = "move = [{ at = \"100 us\", core = 14 }, { at = \"130 us\", core = 2 }, { at = \"160 us\", core = 0 }]";
    let plan = plan(&server(OCTO, &flow(&format!("{INTO}\n{moves}"))));
    let whole = run(&plan, 300);
    for at in [101, 131, 145, 161] {
        let half = checkpoint::write("", &run(&plan, at)).expect("it can be written");
        let mut rest: Simulation<World> = checkpoint::read("", &half).expect("what was written");
        rest.run_until(us(300), |_| true);
        let [rest, whole] = [&rest, &whole].map(|world| checkpoint::write("", world).expect("it can be written"));
        assert!(rest == whole, "{at}");
    }
}
