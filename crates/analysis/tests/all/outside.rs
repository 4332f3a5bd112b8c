//! Tests limits outside of the path of lines: those of a throttle or a network replace any other limit.

use crate::explain::pool;
use hostnet_analysis::explain::{Kind, OutsideLimit, Throttling, WorkloadFacts};

#[test]
fn a_limit_outside_of_the_path_takes_the_place_of_any_other() {
    let disk = || WorkloadFacts::new("disk", Kind::Fio, 9.0, vec![pool("P2M-Write", 92.0, 1.0)], "offered load");
    let outside = |limit: &str| OutsideLimit { limit: limit.to_owned(), why: "evidence".to_owned(), in_host: false };
    for (limit, clause) in [
        ("cable", "is limited by cable: evidence"),
        ("not known", "has no known limit: evidence"),
        ("ended", "has ended: evidence"),
    ] {
        let facts = disk().with_outside(Some(outside(limit)));
        assert_eq!((facts.limited_by().as_str(), facts.clause().as_str()), (limit, clause));
    }
    assert_eq!(disk().with_outside(None), disk());
}

#[test]
fn a_throttle_is_named_doubted_or_left_out_by_the_time_that_it_takes() {
    let stream = || WorkloadFacts::new("c", Kind::Stream, 9.0, vec![pool("C2M-Read", 12.0, 1.0)], "core");
    let limited_by = |lost: f64| stream().throttled(Some(Throttling { lost, why: String::new() })).limited_by();
    assert_eq!((limited_by(0.2).as_str(), limited_by(1.0).as_str()), ("throttle", "throttle"));
    assert_eq!((limited_by(0.19).as_str(), limited_by(0.02).as_str()), ("C2M-Read ?", "C2M-Read ?"));
    assert_eq!(stream().throttled(Some(Throttling { lost: 0.01, why: String::new() })), stream());
}
