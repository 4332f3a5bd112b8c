//! Builds the threads of applications.

use super::CoreWorkload;
use crate::build::burst_converter::BurstConverter;
use crate::build::SocketBuilder;
use hostnet_model::app::{Generator, MemoryBases};
use hostnet_model::core::{Partner, Program, Source, Thread};
use hostnet_model::params::{AppParams, WorkloadKind};

impl CoreWorkload for AppParams {
    /// Adds none, as an application needs caches.
    fn add_programs(&self, _: &SocketBuilder, _: u8, _: &mut [Vec<Program>]) {}

    fn add_threads(&self, socket: &SocketBuilder, class: u8, threads: &mut [Vec<Thread>]) {
        let needed = self.footprint();
        let shared = socket.allocate_shared(class, &self.cores, needed.shared_bytes);
        let count = self.cores.len() as u32;
        for (number, &core) in (0..).zip(&self.cores) {
            // Threads of other sockets are built there, but they count in `number` here.
            let Some(core) = socket.layout.own_core(core) else { continue };
            let mut bases = MemoryBases {
                shared,
                thread: socket.allocate_for(class, socket.node(core), needed.thread_bytes),
                client: 0,
            };
            let mut rng = socket.stream_rng(core, threads[core as usize].len());
            let client = self.clients.get(number as usize).map(|&client| socket.layout.expect_core(client));
            let thread = |generator, partner| Thread {
                class,
                source: Source::App(Box::new(generator)),
                instruction_fs: self.instruction_fs,
                in_flight: self.in_flight,
                think_ps: self.think_ps,
                partner,
            };
            let server = Generator::new(self, number, count, bases, &mut rng);
            let asked_by = client.map(|client| Partner::Client(socket.layout.cores().get(client)));
            threads[core as usize].push(thread(server, asked_by));
            let Some(client) = client else { continue };
            bases.client = socket.allocate_for(class, socket.node(client), needed.client_bytes);
            let asks = Partner::Server(socket.layout.cores().get(core));
            let asking = Generator::client(self, bases);
            threads[client as usize].extend(asking.map(|generator| thread(generator, Some(asks))));
        }
    }

    /// Returns the workload as it is: its buffers and its instructions keep their sizes.
    fn in_bursts(&self, _: &BurstConverter) -> WorkloadKind {
        WorkloadKind::App(self.clone())
    }
}
