//! Compression engines of NICs, and the jobs that use them.

use super::gradients;
use super::host_names::HostNames;
use super::servers::HostServers;
use crate::code::Code;
use crate::error::Issue;
use crate::units::shorten;
use hostnet_params::{CompressParams, CompressSpec, HostSpec, JobParams, JobSpec, Size, Time};
use std::collections::BTreeMap;
use std::path::Path;

const FS_PER_S: u64 = 1_000_000_000_000_000;
/// Bits of the four classes of compressed floats, bits of a float, and bits of the tag per float.
const CLASSES: [f64; 4] = [0.0, 8.0, 16.0, 32.0];
const FLOAT_BITS: f64 = 32.0;
const TAG_BITS: f64 = 2.0;
/// Tolerance of the sum of shares, as published shares are rounded.
const ROUNDED: f64 = 0.01;
/// Bytes of the headers of IP and TCP.
const HEADER_BYTES: u32 = 52;

/// Returns the engine specification of a host, if it has one, and its path in the document.
fn spec_of<'a>(
    hosts: &HostNames,
    servers: &'a HostServers,
    specs: &'a BTreeMap<String, HostSpec>,
    host: usize,
) -> Option<(&'a CompressSpec, String)> {
    let nic = servers.of_host(host).map(|resolved| resolved.spec.nic.as_ref().and_then(|nic| nic.compress.as_ref()));
    let (spec, key) = match nic {
        Some(of_nic) => (of_nic, "nic.compress"),
        None => (specs[&hosts.table_of(host).name].compress.as_ref(), "compress"),
    };
    spec.map(|spec| (spec, format!("{}.{key}", hosts.table_path(host))))
}

/// Compression engines of the hosts.
#[derive(Default)]
pub(super) struct Engines {
    /// Parameters of the engines resolved so far, by the path of their table.
    known: BTreeMap<String, CompressParams>,
}

impl Engines {
    /// Returns the engine of a host, if it has one.
    pub(super) fn of_host(
        &mut self,
        hosts: &HostNames,
        servers: &HostServers,
        specs: &BTreeMap<String, HostSpec>,
        host: usize,
        base_dir: &Path,
    ) -> Result<Option<CompressParams>, Issue> {
        let Some((spec, path)) = spec_of(hosts, servers, specs, host) else { return Ok(None) };
        // Hosts of a table share their engine, so a file of gradients is read once.
        if let Some(known) = self.known.get(&path) {
            return Ok(Some(known.clone()));
        }
        let found = params(spec, &path, base_dir)?;
        self.known.insert(path, found.clone());
        Ok(Some(found))
    }
}

fn params(spec: &CompressSpec, path: &str, base_dir: &Path) -> Result<CompressParams, Issue> {
    let (Size(width), Time(latency_ps), Size(buffer_bytes)) = (spec.width, spec.latency, spec.buffer);
    let clock = spec.clock.0;
    check_one(spec, path)?;
    let (gradients, bits) = match gradients::read(spec, path, base_dir)? {
        Some((gradients, mean)) => (Some(gradients), mean),
        None => (None, float_bits(spec, path)?),
    };
    let float_bits = (bits * CompressParams::BIT as f64).round() as u64;
    let cycle_fs = (FS_PER_S + clock / 2) / clock;
    Ok(CompressParams { burst_bytes: width as u32, cycle_fs, latency_ps, float_bits, buffer_bytes, gradients })
}

/// Checks that exactly one key gives the compressed size.
fn check_one(spec: &CompressSpec, path: &str) -> Result<(), Issue> {
    let ways =
        [("ratio", spec.ratio.is_some()), ("shares", spec.shares.is_some()), ("gradients", spec.gradients.is_some())];
    let keys = ways.map(|(key, _)| format!("{path}.{key}"));
    let given: Vec<&str> = ways.iter().zip(&keys).filter(|((_, given), _)| *given).map(|(_, key)| &**key).collect();
    match given.len() {
        0 => {
            let message = "missing; give how much data becomes of it, such as 8.0, shares of floats with 0, 8, 16 and \
                           32 bits, or gradients";
            Err(Issue::between(Code::MissingKey, &keys.each_ref().map(String::as_str), message))
        }
        1 => Ok(()),
        _ => {
            let message = format!("{} say how much is left; give one of them", given.join(" and "));
            Err(Issue::between(Code::ConflictingKeys, &given, message))
        }
    }
}

/// Returns the mean bits per float after compression, from a ratio or from shares.
fn float_bits(spec: &CompressSpec, path: &str) -> Result<f64, Issue> {
    let bits = match (spec.ratio, &spec.shares) {
        // The ratio includes the tags.
        (Some(ratio), _) => FLOAT_BITS / ratio - TAG_BITS,
        (None, given) => {
            let given = given.as_deref().unwrap_or_default();
            let sum: f64 = given.iter().sum();
            if (sum - 1.0).abs() > ROUNDED {
                let message = format!("{sum:.4} in all; shares of all floats are 1");
                return Err(Issue::new(Code::BadDistribution, format!("{path}.shares"), message));
            }
            // The sum may be rounded, so the shares are scaled to 1.
            given.iter().zip(CLASSES).map(|(share, bits)| share * bits).sum::<f64>() / sum
        }
    };
    Ok(bits.clamp(0.0, FLOAT_BITS))
}

/// Returns the maximum packet size of a compressed job. Incompressible data grows and must still fit.
pub(super) fn mtu(mtu_bytes: u32) -> u32 {
    HEADER_BYTES + CompressParams::data_bytes(mtu_bytes.saturating_sub(HEADER_BYTES))
}

/// Checks that all hosts of a job with marked packets have engines.
pub(super) fn check(
    path: &str,
    spec: &JobSpec,
    placed: &[u16],
    hosts: &HostNames,
    servers: &HostServers,
    specs: &BTreeMap<String, HostSpec>,
) -> Result<(), Issue> {
    if spec.compress != Some(true) {
        return Ok(());
    }
    for &host in placed {
        let at = usize::from(host);
        if spec_of(hosts, servers, specs, at).is_none() {
            let key = if servers.is_server(at) { "nic.compress" } else { "compress" };
            let name = shorten(hosts.name(at));
            let table = format!("{}.{key}", hosts.table_path(at));
            let message = format!(
                "{name} has no engine that makes packets smaller and restores them, as every host of the job needs; \
                 give {table}"
            );
            let keys = [format!("{path}.compress"), table];
            return Err(Issue::between(Code::RequiresKey, &[&keys[0], &keys[1]], message));
        }
    }
    Ok(())
}

/// Drops the offsets of sent data in vectors unless engines of hosts use them.
pub(super) fn forget_places(
    job: &mut JobParams,
    spec: &JobSpec,
    hosts: &HostNames,
    servers: &HostServers,
    specs: &BTreeMap<String, HostSpec>,
) {
    let asks =
        |&host: &u16| spec_of(hosts, servers, specs, host.into()).is_some_and(|(engine, _)| engine.gradients.is_some());
    if spec.compress != Some(true) || !job.hosts.iter().any(asks) {
        job.forget_places();
    }
}
