//! Datagrams between two applications, stage by stage.

use hostnet_model::os::NetStack;
use hostnet_model::transport::stage_times::{Stage, StageTimes};
use hostnet_model::Machine;

/// A datagram that an application has read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DatagramPassage {
    /// Class of the datagram's lines among the workloads of the server.
    pub class: u8,
    /// Time of each stage.
    pub stage_times: StageTimes,
}

impl DatagramPassage {
    /// Returns the time at which the datagram was sent, in ps.
    #[must_use]
    pub fn start_ps(&self) -> u64 {
        self.stage_times.begun().ps()
    }

    /// Returns the time at which the datagram was read, in ps.
    #[must_use]
    pub fn end_ps(&self) -> u64 {
        self.start_ps() + self.stage_times.total_ps()
    }

    /// Returns the stages that took time, each with its begin and its end in ps.
    pub fn stages(&self) -> impl Iterator<Item = (Stage, u64, u64)> + '_ {
        let mut at_ps = self.start_ps();
        let stage = move |stage: Stage| {
            let start_ps = at_ps;
            at_ps += self.stage_times.ps(stage);
            (stage, start_ps, at_ps)
        };
        Stage::ALL.into_iter().map(stage).filter(|(_, start_ps, end_ps)| start_ps < end_ps)
    }
}

/// Returns the datagrams that applications of a machine have read since it keeps stage times, in the order in which
/// they were sent.
pub(super) fn passages(machine: &Machine) -> Vec<DatagramPassage> {
    let ends = machine.engines::<NetStack>().flat_map(NetStack::datagrams);
    let of_end = ends.flat_map(|(params, _, application)| {
        application.stage_stats().kept().iter().map(|&stage_times| DatagramPassage { class: params.class, stage_times })
    });
    let mut all: Vec<DatagramPassage> = of_end.collect();
    // Lanes are given by the start of a passage, and ends come application by application.
    all.sort_by_key(|passage| (passage.start_ps(), passage.end_ps()));
    all
}

/// Assigns each passage the first free lane, so that no two passages of a class overlap in a lane.
#[must_use]
pub fn passage_lanes(passages: &[DatagramPassage]) -> Vec<usize> {
    let mut ends: Vec<(u8, Vec<u64>)> = Vec::new();
    let mut lane_of = |passage: &DatagramPassage| {
        let place = ends.iter().position(|own| own.0 == passage.class).unwrap_or_else(|| {
            ends.push((passage.class, Vec::new()));
            ends.len() - 1
        });
        let own = &mut ends[place].1;
        let lane = own.iter().position(|&end_ps| end_ps <= passage.start_ps()).unwrap_or(own.len());
        if lane == own.len() {
            own.push(0);
        }
        own[lane] = passage.end_ps();
        lane
    };
    passages.iter().map(&mut lane_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostnet_kernel::Time;
    use proptest::prelude::*;

    fn passage(class: u8, start_ps: u64, ps: u64) -> DatagramPassage {
        let mut stage_times = StageTimes::begin(Time::from_ps(start_ps));
        stage_times.end(Stage::Wire, Time::from_ps(start_ps + ps / 2));
        stage_times.end(Stage::RxCopy, Time::from_ps(start_ps + ps));
        DatagramPassage { class, stage_times }
    }

    proptest! {
        #[test]
        fn no_two_of_a_class_overlap_in_a_lane(
            mut drawn in prop::collection::vec((0_u8..3, 0_u64..500, 1_u64..200), 1..60)
        ) {
            drawn.sort_by_key(|&(_, start_ps, ps)| (start_ps, start_ps + ps));
            let passages = drawn.iter().map(|&(class, start, ps)| passage(class, start, ps));
            let passages: Vec<DatagramPassage> = passages.collect();
            let lanes = passage_lanes(&passages);
            for (index, (one, lane)) in passages.iter().zip(&lanes).enumerate() {
                let same = |other: &usize| lanes[*other] == *lane && passages[*other].class == one.class;
                for other in (0..index).filter(same) {
                    prop_assert!(passages[other].end_ps() <= one.start_ps());
                }
                let ends: Vec<u64> = one.stages().map(|stage| stage.2).collect();
                prop_assert_eq!(ends.last(), Some(&one.end_ps()));
            }
        }
    }
}
