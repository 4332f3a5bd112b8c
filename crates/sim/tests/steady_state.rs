//! Nothing allocates in the steady state.

// A global allocator cannot be written without: it counts, and leaves the work to the system's.
#![allow(unsafe_code)]

mod common;

use common::us;
use hostnet_config::Plan;
use hostnet_sim::build;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed on to the system's allocator as it is.
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

/// Redis with clients on cores of their own, a stream of stores, and drives whose data cores consume, by way of the
/// caches.
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

/// One test alone in its process, so that nobody else allocates meanwhile.
#[test]
fn a_running_machine_allocates_nothing() {
    for job in ["quadrant.fio", "quadrant-write.fio"] {
        let job = format!("workload.disk.job={job}");
        assert_allocates_nothing(&common::example(common::QUADRANT_3, &[&job]), 50, &job);
    }
    assert_allocates_nothing(&with_caches(), 200, "caches");
}

fn assert_allocates_nothing(plan: &Plan, warm_up_us: u64, what: &str) {
    let mut simulation = build::one_server(plan.server().unwrap());
    simulation.run_until(us(warm_up_us), |_| true);
    for step in 1..=4 {
        let (before, events) = (ALLOCATIONS.load(Ordering::Relaxed), simulation.progress().events);
        simulation.run_until(us(warm_up_us + 50 * step), |_| true);
        let after = ALLOCATIONS.load(Ordering::Relaxed);
        let events = simulation.progress().events - events;
        assert!(events > 100_000, "{events} events in 50 us");
        // Each call lists once which partition owns which component.
        assert!(after - before <= 1, "{} allocations in {events} events, step {step}, {what}", after - before);
    }
}
