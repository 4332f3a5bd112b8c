//! Tests shares of links against the definition of max-min fairness, and windows against sums by hand.

use super::super::wire::{Wire, WireParams};
use super::channel::{ChannelParams, MessageChannel};
use super::fill::{ConnectedLinks, Hop, SharedLinks};
use super::link::MessageLink;
use super::packets::MessageTransport;
use super::window::StartWindow;
use crate::params::{RoceParams, Transport};
use hostnet_kernel::{ComponentId, Time};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn transport() -> MessageTransport {
    let roce = RoceParams {
        message_bytes: 65_536,
        in_flight: 128,
        mtu_bytes: 1024,
        ack_packets: 1,
        timeout_ps: 1,
        dcqcn: None,
    };
    MessageTransport::of(&Transport::Roce(roce)).expect("RoCE carries messages")
}

fn wire(bytes_per_s: u64) -> Wire {
    Wire::new(&WireParams {
        port: 0,
        peer: ComponentId(0),
        peer_port: 0,
        bytes_per_s,
        framing_bytes: 38,
        frame_min_bytes: 84,
        latency_ps: 1,
        before_ps: 0,
        after_ps: 0,
        down_ps: Vec::new(),
        corrupt: 0,
        watched: false,
        random: (0, 0),
    })
}

/// Returns links of these capacities, and idle channels with these paths and largest rates.
fn shared(capacities: &[u64], channels: &[(BTreeSet<u32>, u64)]) -> SharedLinks {
    let mut shared = SharedLinks::default();
    let link = |&capacity: &u64| MessageLink::new((0, 0), wire(1), capacity);
    shared.links = capacities.iter().map(link).collect();
    for (path, rate_max) in channels {
        let params = ChannelParams {
            flow: 0,
            ends: [ComponentId(0); 2],
            first_hop: shared.hops.len() as u32,
            hops: path.len() as u32,
            transport: 0,
            latency_ps: 1,
            return_ps: 1,
            round_ps: 1,
            buffer_bytes: 1,
            rate_max: *rate_max,
            first_rate: u64::MAX,
            port_queue_ps: 0,
            slowest: path.iter().map(|&link| capacities[link as usize]).min().unwrap_or(0),
        };
        shared.hops.extend(path.iter().map(|&link| Hop { link, slot: 0 }));
        shared.channels.push(MessageChannel::new(params, &transport()));
    }
    shared
}

/// Computes the shares of the connected components of some links.
fn compute(shared: &mut SharedLinks, changed: &[u32]) {
    let mut connected = ConnectedLinks::default();
    shared.begin();
    for &link in changed {
        if shared.find(link, &mut connected) {
            shared.fill(&mut connected);
        }
    }
}

/// Asserts that the shares of the channels on links are max-min fair: no link carries more than its capacity, and each
/// channel has its largest rate or passes a full link on which no other one has more (Bertsekas and Gallager, 1992).
fn assert_fair(shared: &SharedLinks, on: &BTreeSet<u32>) -> Result<(), TestCaseError> {
    let slack = shared.channels.len() as u64 + 1;
    let share = |channel: u32| shared.channels[channel as usize].share;
    let passing = |link: u32| shared.links[link as usize].passages.iter().map(|passage| passage.channel);
    for link in 0..shared.links.len() as u32 {
        let sum: u64 = passing(link).map(share).sum();
        prop_assert!(sum <= shared.links[link as usize].capacity + slack, "link {} carries {}", link, sum);
    }
    for &channel in on {
        let own = share(channel);
        let is_bottleneck = |hop: &Hop| {
            let sum: u64 = passing(hop.link).map(share).sum();
            let most = passing(hop.link).map(share).max().unwrap_or(0);
            sum + slack >= shared.links[hop.link as usize].capacity && own + slack >= most
        };
        let held = own == shared.channels[channel as usize].params.rate_max;
        prop_assert!(held || shared.path(channel).iter().any(is_bottleneck), "channel {} has {}", channel, own);
    }
    Ok(())
}

fn channels() -> impl Strategy<Value = (Vec<u64>, Vec<(BTreeSet<u32>, u64)>)> {
    prop::collection::vec(1_000_000_u64..1_000_000_000, 1..12).prop_flat_map(|capacities| {
        let links = capacities.len() as u32;
        let path = prop::collection::btree_set(0..links, 1..=(links as usize).min(5));
        let rate_max = prop_oneof![2 => Just(u64::MAX), 1 => 100_000_u64..100_000_000];
        (Just(capacities), prop::collection::vec((path, rate_max), 1..40))
    })
}

proptest! {
    /// Channels join and leave a few at a time, and only connected components of changed links are computed anew.
    #[test]
    fn shares_are_max_min_fair_at_all_times(
        (capacities, all) in channels(),
        moves in prop::collection::vec(prop::collection::vec(0_usize..40, 1..6), 1..20)
    ) {
        let mut shared = shared(&capacities, &all);
        let mut on = BTreeSet::new();
        for moved in moves {
            let mut changed = Vec::new();
            for channel in moved.into_iter().map(|channel| (channel % all.len()) as u32) {
                if on.remove(&channel) {
                    shared.leave(channel, &mut changed);
                } else {
                    on.insert(channel);
                    shared.join(channel, &mut changed);
                }
            }
            compute(&mut shared, &changed);
            assert_fair(&shared, &on)?;
        }
    }

    #[test]
    fn channels_with_the_same_link_have_equal_shares(count in 1_u32..2000, capacity in 1_000_000_u64..1_000_000_000) {
        let all: Vec<_> = (0..count).map(|_| (BTreeSet::from([0]), u64::MAX)).collect();
        let mut shared = shared(&[capacity], &all);
        let mut changed = Vec::new();
        (0..count).for_each(|channel| shared.join(channel, &mut changed));
        compute(&mut shared, &changed);
        prop_assert!(shared.channels.iter().all(|own| own.share == capacity.div_ceil(count.into())));
    }

    #[test]
    fn packets_of_a_message_are_those_of_its_requests(whole in 0_u64..5, rest in 0_u64..65_536) {
        let sizes = transport().sizes;
        let count = sizes.count(whole * 65_536 + rest);
        prop_assert_eq!(count.packets, whole * 64 + rest.div_ceil(1024));
        prop_assert_eq!(count.ip_bytes, whole * 65_536 + rest + count.packets * 44);
    }
}

#[test]
fn a_message_of_packets_passes_wires_as_its_last_packet_does() {
    let sizes = transport().sizes;
    // 1106 B per full packet on the wire, at 1 ns per byte; 126 B for the last one of 44 B.
    let (fast, slow) = (wire(1_000_000_000), wire(500_000_000));
    let (full, last) = ((1024 + 44 + 38) * 1000, (44 + 44 + 38) * 1000);
    let train = |bytes, wires: &[&Wire]| sizes.train_ps(bytes, wires.iter().copied());
    assert_eq!(train(44, &[&fast, &fast]), 2 * last);
    assert_eq!(train(2 * 1024 + 44, &[&fast, &fast]), 3 * full + last);
    assert_eq!(train(2 * 1024 + 44, &[&fast, &slow]), full + 2 * 2 * full + 2 * last);
    assert_eq!(train(2 * 1024 + 44, &[&slow, &fast]), 2 * 2 * full + full + last);
}

#[test]
fn a_window_that_is_too_small_waits_for_acknowledgements_until_it_has_doubled() {
    let transport = MessageTransport { start_bytes: 10, idle_ps: 1000, ..transport() };
    let mut window = StartWindow::new(&transport);
    let at = Time::from_ps;
    // At 1 ps per byte, windows of 10, 20 and 40 B wait 90, 80 and 60 ps, and one of 80 B ends the message.
    assert_eq!(window.send(100, [at(0), at(100)], 100, &transport), 90 + 80 + 60);
    // The window is 110 B now.
    assert_eq!(window.send(1000, [at(100), at(1100)], 100, &transport), 0);
    assert_eq!(window.send(100, [at(3000), at(3100)], 100, &transport), 90 + 80 + 60);
}
