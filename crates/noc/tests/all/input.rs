//! Checks how a network alone handles traces, invalid input, and equal input.

use crate::common::{class, params, report, traffic, MESH, ROUTER};
use hostnet_noc::{topology, Measure, NocError, Order, Pattern, Router, Run, Shape, Source, TracePacket, Traffic};

const SHORT: Measure = Measure { warmup: 500, measure: 2000, drain: 2000 };

fn packet(cycle: u64, source: u16, destination: u16, flits: u16) -> TracePacket {
    TracePacket { cycle, source, destination, flits, class: 0 }
}

fn refused(source: Source) -> NocError {
    Run::new(&params(MESH, ROUTER, 2), source, 1, SHORT).err().expect("it is refused")
}

#[test]
fn the_same_seed_gives_the_same_report_and_another_another() {
    let seeded = |seed| Source::Generated(Traffic { pattern: Pattern::Uniform, rate: 0.2, packet_flits: 3, seed });
    let found = |seed| report(&params(MESH, ROUTER, 4), seeded(seed), SHORT);
    assert_eq!(found(1), found(1));
    assert_ne!(found(1).packets, found(2).packets);
}

#[test]
fn a_run_in_parts_is_a_run_in_one() {
    let params = params(MESH, ROUTER, 4);
    let mut whole = Run::new(&params, traffic(Pattern::Transpose, 0.1, 2), 1, SHORT).expect("it can run");
    assert!(!whole.advance(u64::MAX));
    assert_eq!(whole.report(), report(&params, traffic(Pattern::Transpose, 0.1, 2), SHORT));
    assert!(whole.report().drained && whole.status().delivered >= whole.report().arrived);
}

#[test]
fn before_the_measurement_nothing_is_reported() {
    let mut run = Run::new(&params(MESH, ROUTER, 4), traffic(Pattern::Uniform, 0.3, 1), 1, SHORT).expect("it can run");
    run.advance(400);
    let report = run.report();
    assert!(report.flit_hops > 0 && report.links.iter().all(|link| link.flits == 0));
    assert_eq!((report.cycles, report.packets, report.accepted), (0, 0, 0.0));
    assert!(!report.drained);
}

#[test]
fn as_many_packets_are_thrown_as_the_rate_says() {
    for (rate, flits) in [(1e-4, 1), (0.3, 7), (1.0, 1)] {
        let source = Source::Generated(Traffic { pattern: Pattern::Neighbor, rate, packet_flits: flits, seed: 3 });
        let measure = Measure { warmup: 0, measure: 20_000, drain: 0 };
        let found = report(&params(MESH, ROUTER, 4), source, measure);
        let throws = 64.0 * 20_000.0;
        let expected = throws * rate / f64::from(flits);
        let deviation = (expected * (1.0 - rate / f64::from(flits))).sqrt();
        assert!((found.packets as f64 - expected).abs() <= 4.0 * deviation, "{rate} {flits}: {}", found.packets);
    }
}

#[test]
fn the_packets_of_a_trace_come_when_they_are_due_and_idle_time_costs_nothing() {
    let late = 1 << 40;
    let packets = vec![packet(10, 0, 3, 2), packet(10, 5, 5, 1), packet(late, 63, 0, 1)];
    let measure = Measure { warmup: 0, measure: u64::MAX, drain: 0 };
    let found = report(&params(MESH, ROUTER, 2), Source::Trace(packets), measure);
    assert!(found.drained);
    assert_eq!((found.packets, found.arrived, found.latency.most()), (3, 3, 3 * 14 + 5));
    assert!(found.cycles > late && found.cycles < late + 100, "{}", found.cycles);
}

#[test]
fn only_packets_of_the_measurement_are_measured() {
    let packets = [10, 499, 500, 2499, 2500, 2600].map(|cycle| packet(cycle, 0, 1, 1)).to_vec();
    let found = report(&params(MESH, ROUTER, 2), Source::Trace(packets), SHORT);
    assert_eq!((found.packets, found.arrived, found.drained), (2, 2, true));
}

#[test]
fn traces_that_cannot_be_are_refused() {
    let last = 1 << 62;
    for (packets, words) in [
        (vec![packet(5, 0, 1, 1), packet(4, 0, 1, 1)], "packet 2: cycle 4 lies before the cycle 5"),
        (vec![packet(0, 64, 1, 1)], "packet 1: 64 is no terminal; they are 0 to 63"),
        (vec![packet(0, 1, 64, 1)], "packet 1: 64 is no terminal"),
        (vec![packet(0, 1, 2, 0)], "0 flits are out of range"),
        (vec![packet(0, 1, 2, 1025)], "1025 flits are out of range"),
        (vec![TracePacket { class: 1, ..packet(0, 1, 2, 1) }], "class 1 does not exist; they are 0 to 0"),
        (vec![packet(last + 1, 0, 1, 1)], "is out of range; 0 to 4611686018427387904"),
    ] {
        let error = refused(Source::Trace(packets));
        assert_eq!(error.field, "trace");
        assert!(error.message.contains(words), "{error}");
    }
    let measure = Measure { warmup: u64::MAX, measure: u64::MAX, drain: u64::MAX };
    let found = report(&params(MESH, ROUTER, 2), Source::Trace(vec![packet(last, 0, 1, 1024)]), measure);
    assert_eq!((found.packets, found.arrived), (0, 0));
}

#[test]
fn traffic_that_cannot_be_is_refused() {
    for (pattern, rate, flits, field) in [
        (Pattern::Uniform, 0.0, 1, "rate"),
        (Pattern::Uniform, 1.01, 1, "rate"),
        (Pattern::Uniform, f64::NAN, 1, "rate"),
        (Pattern::Uniform, 0.1, 0, "packet_flits"),
        (Pattern::Uniform, 0.1, 1025, "packet_flits"),
        (Pattern::Hotspot(vec![]), 0.1, 1, "hotspots"),
        (Pattern::Hotspot(vec![3, 64]), 0.1, 1, "hotspots"),
    ] {
        assert_eq!(refused(traffic(pattern.clone(), rate, flits)).field, field, "{pattern:?} {rate} {flits}");
    }
    let oblong = params(Shape::Mesh { columns: 3, rows: 5 }, ROUTER, 2);
    for pattern in [Pattern::Transpose, Pattern::BitComplement, Pattern::BitReverse, Pattern::Shuffle] {
        let error = Run::new(&oblong, traffic(pattern.clone(), 0.1, 1), 1, SHORT).err().expect("it is refused");
        assert_eq!(error.field, "pattern", "{pattern:?}");
    }
}

#[test]
fn networks_that_cannot_be_are_refused_and_those_at_the_limit_are_not() {
    let field = |params: &_| topology::build(params).err().map(|error| error.field);
    for (shape, expected) in [
        (Shape::Mesh { columns: 0, rows: 4 }, Some("columns")),
        (Shape::Mesh { columns: 4, rows: 33 }, Some("rows")),
        (Shape::Mesh { columns: 1, rows: 1 }, Some("columns")),
        (Shape::Mesh { columns: 32, rows: 1 }, None),
        (Shape::Ring { nodes: 1 }, Some("nodes")),
        (Shape::Ring { nodes: 257 }, Some("nodes")),
        (Shape::Ring { nodes: 256 }, None),
    ] {
        assert_eq!(field(&params(shape, ROUTER, 2)), expected, "{shape:?}");
    }
    for (router, expected) in [
        (Router { vc_flits: 0, ..ROUTER }, Some("vc_flits")),
        (Router { vc_flits: 255, ..ROUTER }, None),
        (Router { switch_cycles: 17, ..ROUTER }, Some("switch_cycles")),
        (Router { link_cycles: 17, ..ROUTER }, Some("link_cycles")),
        (Router { credit_cycles: 0, ..ROUTER }, Some("credit_cycles")),
        (Router { credit_cycles: 33, ..ROUTER }, Some("credit_cycles")),
        (Router { switch_cycles: 0, link_cycles: 16, credit_cycles: 32, ..ROUTER }, None),
    ] {
        assert_eq!(field(&params(MESH, router, 2)), expected, "{router:?}");
    }
    let ring = Shape::Ring { nodes: 5 };
    for (shape, classes, expected) in [
        (MESH, vec![], Some("classes")),
        (MESH, vec![class(Order::Xy, 0)], Some("vcs")),
        (MESH, vec![class(Order::O1Turn, 1)], Some("vcs")),
        (MESH, vec![class(Order::Xy, 12)], None),
        (MESH, vec![class(Order::Xy, 12), class(Order::Yx, 1)], Some("vcs")),
        (ring, vec![class(Order::Xy, 1)], Some("vcs")),
        (ring, vec![class(Order::O1Turn, 1)], Some("vcs")),
        (ring, vec![class(Order::O1Turn, 2)], None),
    ] {
        let mut params = params(shape, ROUTER, 1);
        params.classes = classes;
        assert_eq!(field(&params), expected, "{params:?}");
    }
}
