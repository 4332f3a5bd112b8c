//! Hashes that identify configurations.

mod flows;
mod steps;

use super::plan_error;
use crate::error::Issue;
use crate::plan::RunPlan;
use hostnet_params::{ClusterParams, JobParams, StepBlockParams};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Number of steps of a job above which its collectives are hashed as they are described, not step by step.
const STEPS_MAX: u64 = 1 << 22;

/// Returns true if a parameter is left out of a hash: at its default, so that servers without it keep their hash.
fn is_left_out(key: &str, value: &Value) -> bool {
    match key {
        "chiplets" | "expander" | "tor_expander_entries" => value.is_null(),
        "forward" | "posts" => value == false,
        "evict_ps" | "stream_prefetches" | "forwarding_ports" => value == 0,
        "hash" => value == "even",
        "write_until" => value == "Admission",
        _ => false,
    }
}

/// Returns the hexadecimal SHA-256 of the canonical JSON of a value.
pub(super) fn hash(value: &impl Serialize) -> Result<String, Issue> {
    let mut hasher = Hasher::default();
    hasher.value(&serde_json::to_value(value).map_err(plan_error)?);
    Ok(hasher.end())
}

/// Hashes a cluster and its run. Flows and steps of jobs are hashed one by one, as there may be a million of them.
pub(super) fn hash_cluster(cluster: &mut ClusterParams, run: &RunPlan) -> Result<String, Issue> {
    let (flows, mut jobs) = (std::mem::take(&mut cluster.flows), std::mem::take(&mut cluster.jobs));
    let trees = serde_json::to_value(&*cluster).and_then(|cluster| Ok((cluster, serde_json::to_value(run)?)));
    cluster.flows = flows;
    let (tree, run) = trees.map_err(plan_error)?;
    let mut hasher = Hasher::default();
    hasher.text("[");
    hasher.object(&tree, |hasher, key, value| {
        if key == "flows" {
            return hasher.flows(&cluster.flows).map_err(plan_error);
        }
        hasher.value(value);
        Ok(())
    })?;
    // The order of these parts belongs to every hash.
    hasher.text(",");
    hasher.value(&run);
    let done = jobs.iter_mut().try_for_each(|job| hasher.job(job));
    cluster.jobs = jobs;
    done.map_err(plan_error)?;
    hasher.text("]");
    Ok(hasher.end())
}

/// Hashes JSON without spaces and with sorted keys.
#[derive(Default)]
struct Hasher {
    sha: Sha256,
    /// Text that has not been hashed yet.
    text: String,
    digits: itoa::Buffer,
}

/// Returns the canonical JSON of a value.
fn canonical(value: &impl Serialize) -> serde_json::Result<String> {
    let mut hasher = Hasher::default();
    hasher.value(&serde_json::to_value(value)?);
    Ok(hasher.text)
}

impl Hasher {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds text and a number, without a formatter: a job has millions of numbers.
    fn number(&mut self, before: &str, number: impl Into<u64>) {
        self.text.push_str(before);
        self.text.push_str(self.digits.format(number.into()));
    }

    /// Hashes the text so far.
    fn flush(&mut self) {
        self.sha.update(self.text.as_bytes());
        self.text.clear();
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Object(_) => {
                let _ = self.object(value, |hasher, _, value| {
                    hasher.value(value);
                    Ok(())
                });
            }
            Value::Array(items) => {
                self.text("[");
                for (at, item) in items.iter().enumerate() {
                    self.text(if at > 0 { "," } else { "" });
                    self.value(item);
                }
                self.text("]");
            }
            scalar => {
                let _ = write!(self.text, "{scalar}");
            }
        }
    }

    /// Hashes a job after a comma. Its blocks follow its other values.
    fn job(&mut self, job: &mut JobParams) -> serde_json::Result<()> {
        let blocks = std::mem::take(&mut job.blocks);
        let tree = serde_json::to_value(&*job);
        job.blocks = blocks;
        self.text(",");
        self.value(&tree?);
        let is_long = job.blocks.iter().map(StepBlockParams::steps_of_all).sum::<u64>() > STEPS_MAX;
        for block in &job.blocks {
            self.number(",[", block.times);
            match is_long {
                true => self.parts(block)?,
                false => self.steps(job, block),
            }
            self.operations(block)?;
            self.text("]");
        }
        Ok(())
    }

    /// Hashes an object, with `each` for its values.
    fn object(
        &mut self,
        object: &Value,
        mut each: impl FnMut(&mut Self, &str, &Value) -> Result<(), Issue>,
    ) -> Result<(), Issue> {
        let entries = object.as_object().into_iter().flatten();
        let mut entries: Vec<_> = entries.filter(|(key, value)| !is_left_out(key, value)).collect();
        entries.sort_by_key(|(key, _)| *key);
        self.text("{");
        for (at, (key, value)) in entries.into_iter().enumerate() {
            let _ = write!(self.text, "{}{}:", if at > 0 { "," } else { "" }, Value::String(key.clone()));
            each(self, key, value)?;
        }
        self.text("}");
        Ok(())
    }

    fn end(mut self) -> String {
        self.flush();
        self.sha.finalize().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{resolve, Format, Input};
    use hostnet_params::Traffic;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn a_cluster_has_the_hash_of_all_of_it() {
        let text = "[host.a]\nkind = \"endpoint\"\n[host.b]\nkind = \"endpoint\"\n\
            [flow.f]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\ncount = 3\n\
            [flow.g]\nkind = \"rpc\"\nfrom = \"b\"\nto = \"a\"\nrequest = \"1 kB\"\ndeaf = [\"1 us\", \"2 us\"]\n\
            [job.j]\nkind = \"barrier\"\nhosts = [\"a\", \"b\"]\n";
        let input = Input { text, format: Format::Toml, file: "t.toml", base_dir: Path::new("."), overrides: &[] };
        let plan = resolve(&input).expect("it is right");
        let (mut cluster, run) = (ClusterParams::clone(&plan.cluster), plan.run);
        assert_eq!(cluster.flows.len(), 5);
        cluster.flows[1].compress = [true, false];
        // Jobs are hashed after the rest, and their connections without the number of the first one.
        let jobs = std::mem::take(&mut cluster.jobs);
        let connection = cluster.flows.pop().unwrap();
        let alone = hash(&(&cluster, &run)).unwrap();
        assert_eq!(alone, hash_cluster(&mut cluster, &run).unwrap());
        cluster.flows.push(connection);
        let connected = hash_cluster(&mut cluster, &run).unwrap();
        cluster.jobs = jobs;
        let whole = hash_cluster(&mut cluster, &run).unwrap();
        let [first, second] = [0, 1].map(|lane| {
            if let Traffic::Messages(channel) = &mut cluster.flows[4].traffic {
                channel.lane = lane;
            }
            hash_cluster(&mut cluster, &run).unwrap()
        });
        assert_eq!(first, whole);
        let different: BTreeSet<_> = [alone, connected, whole, second].into_iter().collect();
        assert_eq!(different.len(), 4);
    }
}
