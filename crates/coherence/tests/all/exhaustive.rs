//! Explores every state of small systems, with messages that overtake each other arbitrarily.
//!
//! With `-- --nocapture` the tests print the number of states.

use hostnet_coherence::explore::{Bounds, StoreValues, System};
use hostnet_coherence::Protocol;

/// Two lines in caches with room for one, so that each store and load evicts the other line.
const TWO_LINES: Bounds = Bounds { lines: 2, stores: StoreValues::Next(2), in_flight: 1, ..Bounds::of(2, 0, 1) };

fn every_state_is_right(bounds: Bounds) {
    let report = System::new(Protocol, bounds).explore();
    println!("{bounds}: {report}");
    assert!(report.violation.is_none(), "{bounds}: {report}");
}

#[test]
fn two_cores_an_ni_at_the_edge_and_an_uncached_agent_keep_a_line_coherent() {
    every_state_is_right(Bounds::of(3, 0, 1));
}

#[test]
#[ignore = "long"]
fn two_uncached_agents_and_two_caches_keep_a_line_coherent() {
    every_state_is_right(Bounds::of(2, 0, 2));
}

#[test]
fn two_tiles_and_an_uncached_agent_keep_a_line_coherent() {
    every_state_is_right(Bounds::of(0, 2, 1));
}

#[test]
fn a_cache_and_a_tile_keep_a_line_coherent() {
    every_state_is_right(Bounds::of(1, 1, 1));
}

#[test]
fn two_lines_that_take_each_others_room_stay_coherent() {
    every_state_is_right(TWO_LINES);
}

#[test]
#[ignore = "long"]
fn two_cores_an_ni_at_the_edge_and_an_uncached_agent_keep_two_lines_coherent() {
    every_state_is_right(Bounds { caches: 3, ..TWO_LINES });
}

#[test]
#[ignore = "long"]
fn two_lines_with_two_accesses_at_once_stay_coherent() {
    every_state_is_right(Bounds { in_flight: 2, ..TWO_LINES });
}

#[test]
#[ignore = "long"]
fn two_tiles_keep_two_lines_coherent() {
    every_state_is_right(Bounds { caches: 0, tiles: 2, ..TWO_LINES });
}

#[test]
#[ignore = "long"]
fn four_caches_keep_a_line_coherent() {
    every_state_is_right(Bounds::of(4, 0, 0));
}

#[test]
#[ignore = "long"]
fn three_tiles_keep_a_line_coherent() {
    every_state_is_right(Bounds::of(0, 3, 0));
}

#[test]
#[ignore = "long"]
fn tiles_caches_and_an_uncached_agent_keep_a_line_coherent() {
    every_state_is_right(Bounds::of(2, 1, 1));
}

#[test]
#[ignore = "long"]
fn three_values_change_nothing() {
    every_state_is_right(Bounds { stores: StoreValues::Any(3), ..Bounds::of(2, 0, 1) });
    every_state_is_right(Bounds { stores: StoreValues::Any(3), ..Bounds::of(0, 2, 0) });
}

fn states_count_whatever_their_names(bounds: Bounds) {
    let (some, all) =
        (System::new(Protocol, bounds).explore(), System::new(Protocol, bounds).explore_without_symmetry());
    assert_eq!((some.states, some.depth), (all.states, all.depth));
    assert_eq!(all.classes, all.states);
    assert!(2 * some.classes <= all.classes || bounds.caches == 1);
}

#[test]
fn states_that_differ_by_names_only_are_counted_as_if_each_had_been_visited() {
    for bounds in [Bounds::of(1, 1, 0), Bounds { uncached: 0, ..TWO_LINES }] {
        states_count_whatever_their_names(bounds);
    }
}

#[test]
#[ignore = "long"]
fn states_of_three_caches_that_differ_by_names_only_are_counted_as_if_each_had_been_visited() {
    for bounds in [Bounds::of(3, 0, 0), Bounds::of(1, 1, 1)] {
        states_count_whatever_their_names(bounds);
    }
}
