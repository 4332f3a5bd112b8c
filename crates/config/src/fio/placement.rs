//! Checks the options that place the threads and buffers of jobs on NUMA nodes.

use crate::code::Code;
use crate::cores::parse_list;
use crate::error::Fault;
use crate::units::shorten;

const ONE_NODE: &str = "the server has one node";
const ITS_SOCKET: &str = "buffers are local to the node of their core";
const NODE_MAX: u32 = 1023;

/// Returns the reason why `numa_cpu_nodes` has no effect. The message of an error does not name the key.
pub(super) fn nodes(value: &str, known: usize) -> Result<&'static str, Fault> {
    if value == "all" {
        return Ok("any core will do");
    }
    let nodes = parse_list(value, "node", NODE_MAX)?;
    if known > 1 {
        let advice = "choose cores of that node with cpus_allowed";
        return Err(Fault::new(
            Code::NotSupported,
            format!("jobs take the last free cores of a server, which has {known} nodes; {advice}"),
        ));
    }
    only_node(&nodes)
}

/// Returns the reason why a NUMA policy for buffers has no effect; see [`nodes`].
pub(super) fn memory_policy(value: Option<&str>, known: usize) -> Result<&'static str, Fault> {
    let value = value.unwrap_or("default");
    let (policy, list) = value.split_once(':').map_or((value, None), |(policy, list)| (policy, Some(list)));
    let nodes = list.map_or(Ok(Vec::new()), |list| parse_list(list, "node", NODE_MAX))?;
    match policy {
        "default" | "local" => Ok(ITS_SOCKET),
        "prefer" | "bind" | "interleave" if known == 1 => only_node(&nodes),
        "prefer" | "bind" | "interleave" => {
            let advice = "\"node:1\" or \"interleave\", with its cores";
            Err(Fault::new(
                Code::NotSupported,
                format!("{} is not set per job; give memory of the workload: {advice}", shorten(value)),
            ))
        }
        _ => Err(Fault::new(Code::MalformedValue, format!("{} is not a policy such as bind:0", shorten(value)))),
    }
}

fn only_node(nodes: &[u32]) -> Result<&'static str, Fault> {
    match nodes.iter().find(|&&node| node > 0) {
        Some(node) => {
            Err(Fault::new(Code::DoesNotExist, format!("node {node} does not exist; the server has one node")))
        }
        None => Ok(ONE_NODE),
    }
}

/// Returns the reason why the kind of memory of the buffers has no effect; see [`nodes`].
pub(super) fn buffers(value: &str) -> Result<&'static str, Fault> {
    let kind = value.split(':').next().unwrap_or(value);
    match kind {
        "malloc" | "shm" | "shmhuge" | "mmap" | "mmaphuge" | "mmapshared" => Ok(ITS_SOCKET),
        "cudamalloc" => {
            Err(Fault::new(Code::NotSupported, "buffers would be in GPU memory, which is not modelled; leave it out"))
        }
        _ => Err(Fault::new(
            Code::MalformedValue,
            format!("{} is not a kind of memory such as malloc or mmaphuge", shorten(value)),
        )),
    }
}
