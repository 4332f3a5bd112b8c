//! Traces as graphs of operations, and the jobs that execute them.

use crate::cluster::lab::plan;
use hostnet_config::Plan;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// Operation of a rank; times in ps, except of the rank itself in us.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    Compute(u64),
    Host(u64),
    Send { to: usize, bytes: u64, tag: u64 },
    Receive { from: usize, bytes: u64, tag: u64 },
    Sum(u64),
    AllToAll(u64),
}

/// Operation with its id, and the places of those that it waits for.
#[derive(Clone, Debug)]
pub struct Op {
    pub id: u64,
    pub act: Act,
    pub after: Vec<usize>,
}

/// Operations of a rank, the ids of which are their places.
#[derive(Clone, Debug, Default)]
pub struct Ops(pub Vec<Op>);

impl Ops {
    /// Adds an operation and returns its place.
    pub fn add(&mut self, act: Act, after: &[usize]) -> usize {
        self.0.push(Op { id: self.0.len() as u64, act, after: after.to_vec() });
        self.0.len() - 1
    }
}

fn text(ops: &[Op]) -> String {
    let mut text = "{\"version\": \"0.0.4\"}\n".to_owned();
    for Op { id, act, after } in ops {
        let number = |name: &str, value: u64| format!("{{\"name\": \"{name}\", \"uint64Val\": {value}}}");
        let (kind, micros, attributes) = match *act {
            Act::Compute(ps) => ("COMP_NODE", 0, vec![number("num_ops", ps)]),
            Act::Host(us) => ("COMP_NODE", us, vec!["{\"name\": \"is_cpu_op\", \"boolVal\": true}".to_owned()]),
            Act::Send { to, bytes, tag } => {
                let attributes = [("comm_dst", to as u64), ("comm_size", bytes), ("comm_tag", tag)];
                ("COMM_SEND_NODE", 0, attributes.map(|(name, value)| number(name, value)).to_vec())
            }
            Act::Receive { from, bytes, tag } => {
                let attributes = [("comm_src", from as u64), ("comm_size", bytes), ("comm_tag", tag)];
                ("COMM_RECV_NODE", 0, attributes.map(|(name, value)| number(name, value)).to_vec())
            }
            Act::Sum(bytes) => ("COMM_COLL_NODE", 0, vec![number("comm_type", 0), number("comm_size", bytes)]),
            Act::AllToAll(bytes) => ("COMM_COLL_NODE", 0, vec![number("comm_type", 6), number("comm_size", bytes)]),
        };
        let after: Vec<String> = after.iter().map(|&place| ops[place].id.to_string()).collect();
        let _ = writeln!(
            text,
            "{{\"id\": {id}, \"type\": \"{kind}\", \"durationMicros\": {micros}, \"dataDeps\": [{}], \"attr\": [{}]}}",
            after.join(", "),
            attributes.join(", ")
        );
    }
    text
}

/// Creates a directory that no other test uses. The caller removes it.
pub fn new_directory() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("hostnet-streams-{}-{count}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    directory
}

/// Returns the plan of a job that executes the operations of each rank. An operation of an accelerator takes its
/// number in ps.
pub fn job(ranks: &[Ops], hosts: &str, more: &str) -> Plan {
    let directory = new_directory();
    for (rank, ops) in ranks.iter().enumerate() {
        std::fs::write(directory.join(format!("t.{rank}.et")), text(&ops.0)).expect("it is written");
    }
    let plan = plan(&format!(
        "{hosts}\n[job.j]\nkind = \"chakra\"\ntrace = {:?}\npeak = 1e12\n{more}\n[run]\nuntil = \"jobs\"\n",
        directory.join("t").display().to_string()
    ));
    std::fs::remove_dir_all(&directory).expect("it is removed");
    plan
}

/// Hosts of which one has all ranks: a byte is copied in 1 ps, after a latency in ns.
pub fn together(ranks: usize, latency_ns: u64) -> (String, String) {
    let job = format!(
        "hosts = \"e-0\"\nranks_per_host = {ranks}\ncopy_rate = \"1 TB/s\"\ncopy_latency = \"{latency_ns} ns\""
    );
    ("[host.e]\nkind = \"endpoint\"\ncount = 2".to_owned(), job)
}

/// A host for each rank, at one switch.
pub fn apart(ranks: usize, more: &str) -> (String, String) {
    let hosts = format!(
        "[host.e]\nkind = \"endpoint\"\ncount = {ranks}\nlatency = \"1 us\"\n[network]\nrate = \"400 Gbps\"\n\
         latency = \"500 ns\"\nmtu = \"9000 B\"\n{more}"
    );
    (hosts, "hosts = \"e\"".to_owned())
}
