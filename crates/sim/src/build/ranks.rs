//! Builds the ranks of jobs on the cores of a server.

use super::{NetworkAttachment, SocketBuilder};
use hostnet_model::core::{Engine, Executor, RankMemory, RankOperations, Source, Thread, Worker};
use hostnet_model::flow::{Rank, RankLink};
use hostnet_model::params::{shared_rank_bytes, JobParams, Traffic, Transport};
use std::collections::BTreeMap;

/// A job at a server.
struct LocalJob<'a> {
    number: u32,
    params: &'a JobParams,
    class: u8,
    /// Ranks of the job at the server, in ascending order.
    ranks: Vec<u32>,
    /// Flows between a rank at the server and a remote rank, by (local rank, remote rank).
    flows: BTreeMap<(u32, u32), u32>,
    /// True if these flows end in the NIC, as RoCE does.
    is_over_roce: bool,
}

impl<'a> LocalJob<'a> {
    /// Returns the jobs of a host.
    fn all(at: &NetworkAttachment<'a>, workloads: usize) -> Vec<Self> {
        let cluster = at.cluster;
        let local = |(number, params): (u32, &'a JobParams)| {
            let ranks: Vec<u32> =
                (0..).zip(&params.hosts).filter(|(_, &host)| host == at.host).map(|(rank, _)| rank).collect();
            let class = cluster.classes.iter().position(|name| *name == params.name)?;
            // The classes of the cluster follow the workloads of the server.
            let class = (workloads - cluster.classes.len() + class) as u8;
            (!ranks.is_empty()).then(|| Self {
                number,
                params,
                class,
                ranks,
                flows: BTreeMap::new(),
                is_over_roce: false,
            })
        };
        let mut all: Vec<Self> = (0..).zip(&cluster.jobs).filter_map(local).collect();
        for (number, flow) in (0..).zip(&cluster.flows) {
            let Traffic::Messages(channel) = flow.traffic else { continue };
            let Some(job) = all.iter_mut().find(|job| job.number == channel.job) else { continue };
            if flow.from == at.host || flow.to == at.host {
                let (_, own, other) = channel.at(flow.from == at.host);
                job.flows.insert((own, other), number);
                job.is_over_roce = matches!(flow.transport, Transport::Roce(_));
            }
        }
        all
    }

    /// Returns the flows of a rank, each with the rank at its other end.
    fn flows_of(&self, rank: u32) -> Vec<(u32, u32)> {
        self.flows.range((rank, 0)..=(rank, u32::MAX)).map(|(&(_, other), &flow)| (flow, other)).collect()
    }
}

/// Builds the ranks of jobs on cores of this socket. `engines` are those that the cores run already.
pub(super) fn workers(socket: &SocketBuilder, engines: &[Vec<Engine>]) -> Vec<(u32, Worker)> {
    let Some(attachment) = &socket.server.attachment else { return Vec::new() };
    let mut workers = Vec::new();
    for job in LocalJob::all(attachment, socket.server.params.workloads.len()) {
        let cores: Vec<u32> = job.ranks.iter().map(|&rank| job.params.cores[rank as usize].core).collect();
        let count = job.ranks.len() as u64;
        let shared = socket.allocate_shared(job.class, &cores, shared_rank_bytes(count));
        for (number, (&rank, core)) in (0..).zip(job.ranks.iter().zip(cores)) {
            // The rank of another socket is built there, but it counts in `number` here.
            let Some(core) = socket.layout.own_core(core) else { continue };
            let before = engines[core as usize].len() as u32;
            let worker = worker(socket, &job, rank, core, before, [shared, count, number]);
            workers.extend(worker.map(|worker| (core, worker)));
        }
    }
    workers
}

/// Builds a rank of a job on a core that runs `before` other engines. `among` holds the address of the memory
/// that the ranks of the server share, their number, and the index of this rank among them.
fn worker(
    socket: &SocketBuilder,
    job: &LocalJob,
    rank: u32,
    core: u32,
    before: u32,
    among: [u64; 3],
) -> Option<Worker> {
    let cache = socket.params.cache.as_ref()?;
    let params = job.params;
    let layout = params.rank_layout();
    let own = socket.allocate_for(job.class, socket.node(core), layout.bytes);
    let instruction_fs = params.cores[rank as usize].instruction_fs;
    let thread = Thread {
        class: job.class,
        source: Source::RankOperations(Box::new(RankOperations::new(own, own + layout.walk, own + layout.gather))),
        instruction_fs,
        in_flight: 0,
        think_ps: 0,
        partner: None,
    };
    let (rng, pages) = (socket.engine_rng(core, before), socket.pages.clone());
    let classes = socket.server.classes;
    let executor =
        Executor::new(core, socket.params.core.clone(), socket.core_wiring(), cache, pages, rng, thread, classes);
    let link = |to: u32| match job.ranks.binary_search(&to) {
        Ok(_) => Some(RankLink::Core(socket.server.layout.core(params.cores[to as usize].core))),
        // Ranks on other servers are reached over a flow.
        Err(_) => job.flows.get(&(rank, to)).map(|&flow| RankLink::End(flow)),
    };
    let [shared, ranks, number] = among;
    let memory = RankMemory { messages: own + layout.messages, shared, ranks, number };
    let flows = job.flows_of(rank);
    let rank = Rank::new(job.number, params, rank, link);
    let works = params.works.clone();
    let over_roce = job.is_over_roce;
    let locals = job.ranks.clone();
    let worker = Worker::new(rank, executor, works, memory, instruction_fs, params.copy_ps, flows, locals);
    let nic = socket.server.params.nic().filter(|_| over_roce);
    Some(match nic {
        Some(nic) => worker.posting_to(socket.server.layout.nic(), nic.transmit_ps),
        None => worker,
    })
}
