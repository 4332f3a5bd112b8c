//! Engines of NICs that make the data of packets smaller, and jobs that ask for them.

use super::hosts::Hosts;
use crate::error::Issue;
use crate::spec::{CompressSpec, HostSpec, JobSpec, Size, Time};
use crate::units::shorten;
use hostnet_model::params::CompressParams;
use std::collections::BTreeMap;

const FS_PER_S: u64 = 1_000_000_000_000_000;
/// Bits that the four classes of floats have, those of a float, and those that a float has of a tag.
const CLASSES: [f64; 4] = [0.0, 8.0, 16.0, 32.0];
const FLOAT_BITS: f64 = 32.0;
const TAG_BITS: f64 = 2.0;
/// Shares are rounded where they are published.
const ROUNDED: f64 = 0.01;
/// Headers of IP and TCP.
const HEADER_BYTES: u32 = 52;

/// The engines of a host, if it has some.
pub(super) fn of_host(
    hosts: &Hosts,
    specs: &BTreeMap<String, HostSpec>,
    host: usize,
) -> Result<Option<CompressParams>, Issue> {
    let group = &hosts.groups[hosts.hosts[host].group];
    let nic = hosts.resolved(host).map(|resolved| resolved.spec.nic.as_ref().and_then(|nic| nic.compress.as_ref()));
    let (spec, key) = match nic {
        Some(of_nic) => (of_nic, "nic.compress"),
        None => (specs[&group.name].compress.as_ref(), "compress"),
    };
    spec.map(|spec| params(spec, &format!("{}.{key}", hosts.table_of(host)))).transpose()
}

fn params(spec: &CompressSpec, path: &str) -> Result<CompressParams, Issue> {
    let (Size(width), Time(latency_ps), Size(buffer_bytes)) = (spec.width, spec.latency, spec.buffer);
    let clock = spec.clock.0;
    let float_bits = (float_bits(spec, path)? * CompressParams::BIT as f64).round() as u64;
    let cycle_fs = (FS_PER_S + clock / 2) / clock;
    Ok(CompressParams { burst_bytes: width as u32, cycle_fs, latency_ps, float_bits, buffer_bytes })
}

/// Bits that a float is left with in the mean.
fn float_bits(spec: &CompressSpec, path: &str) -> Result<f64, Issue> {
    let [ratio, shares] = ["ratio", "shares"].map(|key| format!("{path}.{key}"));
    let bits = match (spec.ratio, &spec.shares) {
        (Some(_), Some(_)) => {
            return Err(Issue::between(&[&ratio, &shares], "either says how much is left; give one of them"));
        }
        (None, None) => {
            let message = "missing; give how much data becomes of it, such as 8.0, or shares of floats with 0, 8, 16 \
                           and 32 bits";
            return Err(Issue::between(&[&ratio, &shares], message));
        }
        (Some(ratio), None) => FLOAT_BITS / ratio - TAG_BITS,
        (None, Some(given)) => {
            let sum: f64 = given.iter().sum();
            if (sum - 1.0).abs() > ROUNDED {
                return Err(Issue::new(shares, format!("{sum:.4} in all; shares of all floats are 1")));
            }
            given.iter().zip(CLASSES).map(|(share, bits)| share * bits).sum::<f64>() / sum
        }
    };
    Ok(bits.clamp(0.0, FLOAT_BITS))
}

/// The largest packet of a job whose data is made smaller: what does not get smaller gets larger, and is to fit.
pub(super) fn mtu(mtu_bytes: u32) -> u32 {
    HEADER_BYTES + CompressParams::data_bytes(mtu_bytes.saturating_sub(HEADER_BYTES))
}

/// Checks that all hosts of a job whose packets are marked have engines for them.
pub(super) fn check(
    path: &str,
    spec: &JobSpec,
    placed: &[u16],
    hosts: &Hosts,
    specs: &BTreeMap<String, HostSpec>,
) -> Result<(), Issue> {
    if spec.compress != Some(true) {
        return Ok(());
    }
    for &host in placed {
        let at = usize::from(host);
        if of_host(hosts, specs, at)?.is_none() {
            let key = if hosts.resolved(at).is_some() { "nic.compress" } else { "compress" };
            let name = shorten(&hosts.hosts[at].name);
            let table = format!("{}.{key}", hosts.table_of(at));
            let message = format!(
                "{name} has no engine that makes packets smaller and restores them, as every host of the job needs; \
                 give {table}"
            );
            let keys = [format!("{path}.compress"), table];
            return Err(Issue::between(&[&keys[0], &keys[1]], message));
        }
    }
    Ok(())
}
