//! Tests files that are sent without a copy, and packets with fragments on several nodes.

use crate::cluster::lab::{nic, plan, run, servers, settle};
use crate::cluster::migration::{assert_in_order, server, through, OCTO};
use crate::common::{acquired, us};
use hostnet_kernel::{checkpoint, Simulation};
use hostnet_model::{os::NetStack, PoolGroup, World};
use hostnet_sim::{Options, Run};
use proptest::prelude::*;

const SCATTER: &str = "nic.scatter = true\n";

/// Returns a flow out of the server, with more keys.
fn file(keys: &str) -> String {
    format!(
        "[flow.f]\nkind = \"bulk\"\ntransport = \"joined\"\nfrom = \"server\"\nto = \"peer\"\n\
         from_cores = \"0\"\n{keys}\n"
    )
}

/// Runs a card with `nic_keys` for 500 us with a file at `place`. Returns the lines that cross UPI per line that the
/// card reads, the share of bytes read by the second function, and the bytes sent.
fn sent(nic_keys: &str, place: &str) -> (f64, f64, u64) {
    let text = server(&format!("{OCTO}{nic_keys}"), &file(&format!("sendfile = \"{place}\"")));
    let mut simulation = run(&plan(&text), 500);
    settle(&mut simulation);
    let machine = servers(&simulation)[0];
    let [[_, first], [_, second]] = through(&simulation);
    let read = (first + second) as f64;
    let bytes = nic(machine).flows()[0].sent.bytes;
    (acquired(machine, PoolGroup::ChaUpi, 0) as f64 * 64.0 / read, second as f64 / read, bytes)
}

#[test]
fn each_fragment_is_read_on_its_node_and_nothing_crosses() {
    let (crosses, second, bytes) = sent("", "interleave");
    assert!((crosses - 0.5).abs() < 0.01, "half of it lies on the other node: {crosses}");
    assert_eq!(second, 0.0, "the queue goes by the first function");
    let (scattered, second, more) = sent(SCATTER, "interleave");
    assert_eq!(scattered, 0.0);
    assert!((second - 0.5).abs() < 0.01, "each function reads its half: {second}");
    assert!(more > bytes * 3 / 2, "two links of eight lanes read more than one: {more} and {bytes} B");
}

#[test]
fn descriptors_and_completions_stay_with_the_function_of_the_queue() {
    let (crosses, second, bytes) = sent("", "node:1");
    assert!(crosses > 0.99 && second == 0.0, "{crosses}, {second}");
    let (scattered, second, more) = sent(SCATTER, "node:1");
    assert_eq!(scattered, 0.0);
    assert!(second > 0.99 && second < 1.0, "{second}");
    assert!(more >= bytes, "{more} and {bytes} B");
    let text = server(&format!("{OCTO}{SCATTER}"), &file("sendfile = \"node:1\""));
    let through = through(&run(&plan(&text), 500));
    assert!(through[0][0] > 0 && through[1][0] == 0, "what is written goes by the first: {through:?}");
}

fn hash(nic: &str, flow: &str) -> String {
    let run_keys = "[run]\nwarmup = \"100 us\"\nduration = \"200 us\"\n";
    let mut run = Run::new(&plan(&server(nic, &format!("{}{run_keys}", file(flow)))), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().result_hash
}

#[test]
fn hints_change_nothing_where_there_is_nothing_to_choose() {
    let one = "cache.enabled = true\nnic.ddio = true\nnic.functions = [{ socket = 0 }]\n";
    for (nic, flow) in [
        (one, "sendfile = \"interleave\""),
        (one, ""),
        (OCTO, "sendfile = \"local\""),
        (OCTO, "sendfile = \"node:0\""),
        (OCTO, ""),
    ] {
        assert_eq!(hash(nic, flow), hash(&format!("{nic}{SCATTER}"), flow), "{nic}{flow}");
    }
    let [local, other] = ["local", "node:0"].map(|place| hash(OCTO, &format!("sendfile = \"{place}\"")));
    assert_eq!(local, other, "core 0 is on socket 0");
    assert_ne!(hash(OCTO, ""), local, "a copy takes time");
}

#[test]
fn a_file_is_sent_without_a_copy() {
    let copied = |flow: &str| -> u64 {
        let simulation = run(&plan(&server(OCTO, &file(flow))), 300);
        let stacks: Vec<&NetStack> = servers(&simulation)[0].engines().collect();
        stacks.iter().map(|stack| stack.counts().destination_lines + stack.counts().source_lines).sum()
    };
    assert!(copied("") > 10_000);
    assert_eq!(copied("sendfile = \"local\""), 0);
}

#[test]
fn a_checkpoint_amid_fragments_changes_nothing() {
    let text = server(&format!("{OCTO}{SCATTER}"), &file("sendfile = \"interleave\""));
    let plan = plan(&text);
    let whole = run(&plan, 200);
    for at in [50, 101, 150] {
        let half = checkpoint::write("", &run(&plan, at)).expect("it can be written");
        let mut rest: Simulation<World> = checkpoint::read("", &half).expect("what was written");
        rest.run_until(us(200), |_| true);
        let [rest, whole] = [&rest, &whole].map(|world| checkpoint::write("", world).expect("it can be written"));
        assert!(rest == whole, "{at}");
    }
}

proptest! {
    #![proptest_config(crate::common::laws::cases(12))]

    /// Properties of files and copies, by several cores, of threads that move or stay, with incoming packets.
    #[test]
    fn nothing_is_lost_and_nothing_overtakes(
        places in prop::collection::vec(prop::sample::select(vec!["local", "node:0", "node:1", "interleave"]), 1..3),
        cores in prop::sample::select(vec!["0", "0-1", "0,14", "14-15"]),
        count in 1_u32..4,
        mtu in prop::sample::select(vec![1500, 4096, 9000]),
        scatter in any::<bool>(),
        octo in any::<bool>(),
        moves in any::<bool>(),
        beside in any::<bool>(),
    ) {
        let mode = if octo { "octo" } else { "standard" };
        let hints = if octo && scatter { SCATTER } else { "" };
        let keys = format!("{OCTO}nic.mode = \"{mode}\"\n{hints}");
        let moves = if moves { "move = [{ at = \"80 us\", core = 15 }, { at = \"160 us\", core = 0 }]\n" } else { "" };
        let flows: String = places.iter().enumerate().map(|(at, place)| format!(
            "[flow.f{at}]\nkind = \"bulk\"\ntransport = \"joined\"\nfrom = \"server\"\nto = \"peer\"\n\
             from_cores = \"{cores}\"\ncount = {count}\nmtu = \"{mtu} B\"\nsendfile = \"{place}\"\n{moves}"
        )).collect();
        let other = "[flow.g]\nkind = \"bulk\"\nfrom = \"peer\"\nto = \"server\"\nto_cores = \"1\"\n\
             transport = \"joined\"\n[flow.h]\nkind = \"bulk\"\nfrom = \"server\"\nto = \"peer\"\n\
             from_cores = \"14\"\ntransport = \"joined\"\n";
        let text = server(&keys, &format!("{flows}{}", if beside { other } else { "" }));
        let mut simulation = run(&plan(&text), 300);
        assert_in_order(&mut simulation, &text);
    }
}
