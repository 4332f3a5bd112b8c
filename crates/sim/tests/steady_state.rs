//! Tests that nothing allocates in the steady state.

// Implementing a global allocator is unsafe; this one counts calls and passes them to the system allocator.
#![allow(unsafe_code)]

mod common;

use common::us;
use hostnet_config::Plan;
use hostnet_kernel::{Partition, Simulation};
use hostnet_sim::build;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns a server with caches: Redis with clients on separate cores, a stream of stores, and drives whose data
/// cores consume.
fn with_caches() -> Plan {
    let settings = [
        "cache.enabled=true",
        "workload.stream.cores=0-2",
        "workload.disk.consume=true",
        "workload.kv={kind='app',app='redis',cores='3',clients='4',think='0 ns'}",
        "workload.chase={kind='app',app='chase',cores='5'}",
    ];
    common::example(common::QUADRANT_3, &settings)
}

/// Returns a cluster of two servers and an endpoint at a switch that marks and pauses. `flows` run between them, and
/// a cable damages some packets.
fn cluster(flows: &str) -> Plan {
    let server = |name: &str| {
        format!(
            "[host.{name}]\npreset = \"cascade-lake-hostcc\"\nnic.pfc = {{ xoff = \"100 kB\", xon = \"50 kB\" }}\n\
             [host.{name}.workload.stream]\nkind = \"stream\"\ncores = \"0-1\"\nreads = 0.5\n"
        )
    };
    let between = "[host.c]\nkind = \"endpoint\"\n[network]\nmtu = \"4200 B\"\n[switch.tor]\necn = \"60 kB\"\n\
                   buffer = \"300 kB\"\npfc = { xoff = \"50 kB\", xon = \"30 kB\" }\n\
                   [cable.c]\ncorrupt = 0.003\n";
    common::plan(&[&server("a"), &server("b"), between, flows].concat(), &[])
}

fn flow(name: &str, ends: [&str; 2], what: &str) -> String {
    let [from, to] = ends;
    format!("[flow.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\n{what}\n")
}

/// Returns a cluster with bulk flows and RPCs over TCP into and out of servers.
fn tcp(transport: &str) -> Plan {
    let bulk = format!("kind = \"bulk\"\ncount = 2\ntransport = \"{transport}\"");
    let rpc = format!("kind = \"rpc\"\nrequest = \"5 kB\"\nin_flight = 4\ntransport = \"{transport}\"");
    let flows = [
        flow("into", ["c", "a"], &bulk),
        flow("out", ["a", "b"], &bulk),
        flow("ask", ["a", "b"], &rpc),
        flow("serve", ["c", "a"], &rpc),
    ];
    cluster(&flows.concat())
}

/// Returns a cluster with RDMA writes and reads between servers and out of an endpoint.
fn rdma(transport: &str) -> Plan {
    let kind = |kind: &str| format!("kind = \"{kind}\"\ncount = 2\ntransport = \"{transport}\"");
    let flows = [
        flow("into", ["c", "a"], &kind("write")),
        flow("between", ["a", "b"], &kind("read")),
        flow("back", ["a", "b"], &kind("write")),
        flow("out", ["c", "b"], &kind("read")),
    ];
    cluster(&flows.concat())
}

/// The only test of its process, so that no other test allocates at the same time.
#[test]
fn the_steady_state_allocates_nothing() {
    for job in ["quadrant.fio", "quadrant-write.fio"] {
        let job = format!("workload.disk.job={job}");
        // Long enough for every histogram to get its first value, for which it allocates.
        assert_machine(&common::example(common::QUADRANT_3, &[&job]), 200, &job);
    }
    assert_machine(&with_caches(), 200, "caches");
    for transport in ["dctcp", "cubic", "reno"] {
        assert_world(&tcp(transport), transport);
    }
    for transport in ["roce", "dcqcn"] {
        assert_world(&rdma(transport), transport);
    }
}

fn assert_machine(plan: &Plan, warm_up_us: u64, what: &str) {
    let mut simulation = build::one_server(plan.server().unwrap());
    assert_allocates(&mut simulation, warm_up_us, 0, what);
}

/// Asserts that a world allocates at most a few times. A rare loss may make a queue longer than ever before and grow
/// its room; an allocation per packet, message or window would be thousands.
fn assert_world(plan: &Plan, what: &str) {
    assert_allocates(&mut build::world(&plan.cluster), 1000, 10, what);
}

fn assert_allocates<W: Partition>(simulation: &mut Simulation<W>, warm_up_us: u64, most: u64, what: &str) {
    let step_us = warm_up_us.clamp(50, 250);
    simulation.run_until(us(warm_up_us), |_| true);
    for step in 1..=3 {
        let (before, events) = (ALLOCATIONS.load(Ordering::Relaxed), simulation.progress().events);
        simulation.run_until(us(warm_up_us + step_us * step), |_| true);
        let after = ALLOCATIONS.load(Ordering::Relaxed);
        let events = simulation.progress().events - events;
        assert!(events > 100_000, "{events} events in {step_us} us");
        // Each call makes one list of the partition of each component.
        let found = after - before;
        assert!(found <= 1 + most, "{found} allocations in {events} events, step {step}, {what}");
    }
}
