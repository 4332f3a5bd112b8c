//! Tests throttling of the cores of other, fully described sockets.

use crate::common::laws::{drain, run_to};
use crate::common::{plan, settled, us};
use hostnet_kernel::Simulation;
use hostnet_model::control::LEVEL_MAX;
use hostnet_model::params::{ControlParams, ControlRule, ServerParams};
use hostnet_model::Machine;
use hostnet_sim::build;
use hostnet_sim::sample::{self, PoolGroup};

/// Returns a server of four sockets with eight cores each. A stream on `cores` accesses memory of the first socket.
fn server(cores: &str, caches: bool, level: u8) -> ServerParams {
    let text = format!(
        "[server]\npreset = \"cascade-lake-6234\"\nsockets = 4\n\
         [cache]\nenabled = {caches}\nl2.sets = 64\nllc.sets = 64\nfilter.sets = 128\n\
         [workload.stream]\nkind = \"stream\"\ncores = \"{cores}\"\nreads = 0.5\nmemory = \"node:0\"\n"
    );
    let control = ControlParams {
        rule: ControlRule::Fixed(level),
        read_ps: 600_000,
        read_spread_ps: 100_000,
        write_ps: 22_000_000,
        signal_ps: 2_000_000,
        iio_clock_ps: 2000,
        mba_ps: 1_000_000,
        sender: false,
        expander: None,
    };
    ServerParams { control: Some(control), ..plan(&text, &[]).server().expect("a server").clone() }
}

/// Returns the lines that each core with a stream requests from 100 to 200 us.
fn lines(simulation: &mut Simulation<Machine>) -> Vec<u64> {
    run_to(simulation, us(100));
    let (machine, scheduler) = &mut simulation.parts_mut()[0];
    sample::reset(machine, scheduler.now());
    run_to(simulation, us(200));
    let domains = sample::domains(settled(simulation), PoolGroup::Lfb);
    domains.iter().map(|(_, domain)| domain.classes().iter().map(|usage| usage.acquired()).sum()).collect()
}

#[test]
fn each_level_throttles_its_sockets() {
    for caches in [false, true] {
        let asked = |level| {
            let mut simulation = build::one_server(&server("8,16,24", caches, level));
            let lines = lines(&mut simulation);
            drain(&mut simulation);
            lines
        };
        let free = asked(0);
        for level in 1..=LEVEL_MAX {
            for (socket, (&free, &lines)) in (1..).zip(free.iter().zip(&asked(level))) {
                let told = format!("caches {caches}, socket {socket} at level {level}: {lines} of {free} lines");
                match level {
                    LEVEL_MAX => assert!(lines * 100 < free, "{told}"),
                    _ if socket <= level => assert!(lines * 3 < free * 2, "{told}"),
                    _ => assert!(lines * 10 > free * 9, "{told}"),
                }
            }
        }
    }
}

#[test]
fn an_idle_socket_counts_as_throttled() {
    let asked = |level| lines(&mut build::one_server(&server("0,16", false, level)));
    let [free, first, second] = [0, 1, 2].map(asked);
    assert!(first[1] * 10 > free[1] * 9, "level 1 is socket 1: {} of {}", first[1], free[1]);
    assert!(second[1] * 3 < free[1] * 2, "level 2 is socket 2 as well: {} of {}", second[1], free[1]);
    assert!(second[0] * 10 > free[0] * 9, "the first socket is free: {} of {}", second[0], free[0]);
}

#[test]
fn without_load_on_others_the_first_socket_is_throttled() {
    let [free, held] = [0, 3].map(|level| lines(&mut build::one_server(&server("0", false, level))));
    assert!(held[0] * 3 < free[0] * 2, "{} of {}", held[0], free[0]);
}
