//! Describes the limit of a workload in words.

use super::facts::{Kind, WorkloadFacts};
use super::Cached;
use crate::binding::{CORE, NOT_KNOWN, OFFERED_LOAD};
use crate::limits::Gain;
use crate::pool::Pool;

impl WorkloadFacts {
    /// Names the limit for a table, with a question mark if it may be wrong.
    #[must_use]
    pub fn limited_by(&self) -> String {
        let names = self.binding.join(" / ");
        if self.is_doubtful() {
            format!("{names} ?")
        } else {
            names
        }
    }

    /// Describes the limit and the raise that helps, in words that follow the name of the workload.
    #[must_use]
    pub fn clause(&self) -> String {
        if let Some(clause) = self.outside_clause() {
            return clause;
        }
        let bound = self.binding.join(" / ").replace(OFFERED_LOAD, "its offered load").replace(CORE, "its cores");
        if self.is_named_behind_link() {
            return format!("is limited by {bound} on the way to its lines behind a link");
        }
        if self.link_ns > 0.0 && bound == NOT_KNOWN {
            return "has no known limit: predictions do not cover lines behind a link".to_owned();
        }
        if let Some(mesh) = self.mesh_limit() {
            return match self.doubt() {
                None => format!("is limited by {}", mesh.in_words()),
                Some(why) => format!("may be limited by {}; {why}", mesh.in_words()),
            };
        }
        if let Some(why) = self.doubt() {
            let evidence = self.limiting().map_or_else(String::new, |stage| format!("{}; ", stage.in_words()));
            return format!("may be limited by {bound} ({evidence}{why})");
        }
        let limits = self.limits.as_ref().filter(|_| self.is_predicted());
        match limits.and_then(|limits| limits.gains.first()) {
            Some(Gain { raised, gain, .. }) if bound != NOT_KNOWN => {
                format!("is limited by {bound} ({:+.0} % with {raised})", 100.0 * gain)
            }
            _ if bound == NOT_KNOWN => {
                "has no known limit: raising any single limit by a quarter gains less than 2 %".to_owned()
            }
            _ if self.binding == [OFFERED_LOAD] && !self.offered_by.is_empty() => {
                format!("is limited by {bound} ({})", self.offered_by.join(" and "))
            }
            _ => format!("is limited by {bound}"),
        }
    }

    /// Names the credits of a pool: those of the parts that the workload uses, which may not be all of the pool.
    fn credits_in_words(&self, pool: &Pool) -> String {
        match (self.kind, pool.domain.as_str()) {
            (Kind::Stream, _) => {
                let entries = if pool.prefetched { "LFB entries and prefetches" } else { "LFB entries" };
                let place = pool.place.iter().map(|place| format!(" on {place}")).collect::<String>();
                format!("{entries} of its cores{place}")
            }
            (Kind::Fio, link @ ("PCIe posted" | "PCIe non-posted")) => format!("{link} credits of its links"),
            (Kind::Fio, domain) => format!("{domain} credits"),
        }
    }

    /// Describes the limit and the pool behind it in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let name = &self.workload;
        let clauses: String =
            self.cached.iter().flat_map(Cached::clauses).map(|clause| format!("; {clause}")).collect();
        if self.gb_per_s.is_nan() {
            return format!("{name}: nothing was measured");
        }
        let Some(pool) = self.main_pool() else {
            return if self.looked() { format!("{name} lives in its caches") } else { format!("{name} moved nothing") };
        };
        let Pool { in_use, credits, .. } = pool;
        let full = 100.0 * pool.full_share;
        let latency = pool.latency_ns.map_or_else(String::new, |ns| format!(", {ns:.0} ns each"));
        let held = self.credits_in_words(pool);
        let state = format!("{in_use:.1} of {credits:.0} {held} in use, full {full:.0} % of the time");
        if pool.latency_ns.is_none() && self.gb_per_s == 0.0 {
            return format!("{name} moved nothing: {state}, and none came back{clauses}");
        }
        // A clause about an outside limit has a colon already.
        let sign = if self.outside.is_some() { ';' } else { ':' };
        format!("{name} {}{sign} {state}{latency}{clauses}", self.clause())
    }
}
