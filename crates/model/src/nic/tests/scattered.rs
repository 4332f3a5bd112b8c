//! Tests of packets with fragments on several nodes (IOctoSG).

use super::world::{bench, data, drain, host, params, pcie, transmit, Host, World};
use crate::line::{memory_of, Content, Packet, Pages};
use crate::params::{NicFunctionParams, NicParams, PcieParams};
use crate::transport::tcp::Segment;

/// Returns the parameters of a NIC with two functions. The queues of even and odd flows belong to different
/// functions.
fn octopus(scatter: bool) -> NicParams {
    NicParams { functions: vec![NicFunctionParams { socket: 1, pcie: pcie() }], scatter, ..params() }
}

fn segment(flow: u32, sequence: u64, bytes: u32, address: u64) -> Packet {
    let segment = Segment { sequence, bytes, ..Segment::default() };
    Packet { content: Content::Tcp(segment), line: address / 64, ..data(flow, 0) }
}

/// Returns the address where a run of pages ends and memory of the other node begins.
fn border() -> u64 {
    Pages::shared() + (2 << 20)
}

fn sequences(world: &World) -> Vec<u64> {
    let sequence = |packet: &Packet| match packet.content {
        Content::Tcp(segment) => segment.sequence,
        _ => unreachable!("only TCP was sent"),
    };
    world.sent.iter().map(|(_, packet)| sequence(packet)).collect()
}

#[test]
fn a_packet_over_the_border_of_two_nodes_is_read_by_both_functions() {
    // Reads: the descriptor, and 64, 64 and 2 lines of packets, of which 65 begin before the border.
    for (scatter, expected) in [(false, [[66, 65], [0, 0]]), (true, [[66, 0], [0, 65]])] {
        let mut bench = bench(octopus(scatter), host());
        transmit(&mut bench, 1, segment(0, 0, 8192, border() - 4096));
        let world = drain(&mut bench);
        assert_eq!(world.read_from, expected, "{scatter}");
        assert_eq!(sequences(world), [0, 4044, 8088]);
        assert_eq!(world.told.len(), 1);
    }
}

#[test]
fn a_packet_whose_fragments_come_early_waits_for_those_before_it() {
    // The first function has hardly any read credits, so its data arrives late.
    let mut params = octopus(true);
    params.pcie = PcieParams { nonposted_lines: 8, ..pcie() };
    let slow = Host { data_ps: (3_000_000, 0), ..host() };
    let mut bench = bench(params, slow);
    transmit(&mut bench, 1, segment(0, 0, 4044, memory_of(0)));
    transmit(&mut bench, 2, segment(0, 4044, 4044, memory_of(1)));
    transmit(&mut bench, 3, segment(0, 8088, 4044, memory_of(0) + 8192));
    let world = drain(&mut bench);
    assert_eq!(sequences(world), [0, 4044, 8088]);
    assert_eq!(world.told.iter().map(|told| told.2).collect::<Vec<_>>(), [4044; 3]);
}

#[test]
fn two_links_read_at_twice_the_rate_of_one() {
    let span = |scatter| {
        let narrow = PcieParams { bytes_per_s: 2_000_000_000, nonposted_lines: 64, ..pcie() };
        let mut params = octopus(scatter);
        params.pcie = narrow.clone();
        let mut bench = bench(params, host());
        for number in 0..20 {
            transmit(&mut bench, 1, segment(0, number * 64_000, 64_000, border() - 32_000));
        }
        let world = drain(&mut bench);
        world.sent[world.sent.len() - 1].0.ps()
    };
    let (one, both) = (span(false) as f64, span(true) as f64);
    assert!((one / both - 2.0).abs() < 0.2, "{one} ps and {both} ps");
}
