//! Tests that hold for all state machines of this module.

use super::tables::{params, round_trip_checkpoint};
use super::*;
use crate::params::{IdleGovernorParams, NcapParams};
use hostnet_kernel::Time;
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::fmt::Debug;

const US: u64 = 1_000_000;

fn survives<T: Serialize + DeserializeOwned + Debug>(machine: &T) {
    assert_eq!(format!("{:?}", round_trip_checkpoint(machine)), format!("{machine:?}"));
}

#[test]
fn machines_come_out_of_a_checkpoint_as_they_went_in() {
    let (params, now) = (params(), Time::from_ps(70 * US));
    let mut dvfs = Dvfs::new(&params, 1);
    dvfs.request_pstate(now, 3);
    dvfs.advance(now);
    dvfs.request_pstate(now, 2);
    survives(&dvfs);

    let mut util = UtilTracker::new(now);
    util.run(now + 12_345 * US, 1, 2);
    survives(&util);

    let mut meter = CoreMeter::new(&params, now, 1, u64::MAX);
    meter.turn(now + 5 * US, CoreActivity::Asleep(2), 7);
    meter.settle(now + u64::MAX / 2);
    survives(&meter);

    let thresholds = NcapParams {
        software: false,
        high_per_s: Some(1),
        low_per_s: 1,
        low_bits_per_s: 1,
        idle_ps: None,
        steps: 3,
        low_ps: US,
        period_ps: US,
        templates: vec![*b"GE"],
        rearm_by_frequency: false,
        packet_ps: 0,
    };
    let mut ncap = Ncap::new(&thresholds, now);
    assert_eq!(ncap.received(now, *b"GE"), None);
    assert!(ncap.expired(now + US, false).is_some_and(|cause| cause.high));
    assert_eq!((ncap.received(now + US, *b"GE"), ncap.level()), (None, 3));
    ncap.sent(17);
    survives(&ncap);

    for kind in [
        IdleGovernorParams::Poll,
        IdleGovernorParams::Ladder,
        IdleGovernorParams::Menu,
        IdleGovernorParams::EarlyMenu,
        IdleGovernorParams::Teo,
    ] {
        let mut idle = IdleGovernor::new(kind, &params.cstates);
        for turn in 0..5 {
            let _ = idle.select(now, Some(1000 * US), None);
            idle.reflect(now + 100 * US, turn * 30 * US);
            survives(&idle);
        }
    }
}
