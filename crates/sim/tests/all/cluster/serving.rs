//! Builds servers with cores that work for services, and reads their results.

use crate::cluster::lab::{plan, servers};
use hostnet_config::Plan;
use hostnet_kernel::Simulation;
use hostnet_measure::Histogram;
use hostnet_model::flow::{RequestCounts, ServiceStats};
use hostnet_model::os::NetStack;
use hostnet_model::World;
use hostnet_sim::{Options, Report, Run};
use serde_json::Value;

pub const PS: u64 = 1_000_000;

/// Clients of a server with four cores over 10 Gbps.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Content of the table `power`; `None` without power management.
    pub power: Option<String>,
    /// Content of the table `nic`.
    pub nic: String,
    pub fidelity: &'static str,
    pub clients: u32,
    pub cores: String,
    /// Lines of the flow.
    pub flow: String,
    /// Content of the table `service`.
    pub service: String,
    /// Lines of `run`.
    pub run: String,
}

impl Scene {
    /// Creates a scene in which each client has one connection to `cores`.
    pub fn new(clients: u32, cores: &str, service: &str) -> Self {
        Self {
            power: None,
            nic: String::new(),
            fidelity: "fluid",
            clients,
            cores: cores.to_owned(),
            flow: "request = \"100 B\"\nresponse = \"1 kB\"\n".to_owned(),
            service: service.to_owned(),
            run: String::new(),
        }
    }

    /// Returns the scene with frequencies and sleep.
    pub fn power(&self, power: &str) -> Self {
        Self { power: Some(power.to_owned()), ..self.clone() }
    }

    /// Returns the scene with another card.
    pub fn nic(&self, nic: &str) -> Self {
        Self { nic: nic.to_owned(), ..self.clone() }
    }

    /// Returns the scene with another warm-up and duration, in us.
    pub fn window(&self, warm_up_us: u64, duration_us: u64) -> Self {
        Self { run: format!("warmup = \"{warm_up_us} us\"\nduration = \"{duration_us} us\""), ..self.clone() }
    }

    pub fn plan(&self) -> Plan {
        let Self { power, nic, fidelity, clients, cores, flow, service, run } = self;
        let power = power.as_ref().map_or_else(String::new, |power| format!("power = {{ {power} }}\n"));
        plan(&format!(
            "[host.client]\nkind = \"endpoint\"\ncount = {clients}\n\
             [host.server]\npreset = \"i7-3770-gem5\"\nfidelity = \"{fidelity}\"\n{power}nic = {{ {nic} }}\n\
             [network]\nrate = \"10 Gbps\"\nlatency = \"1 us\"\n\
             [flow.load]\nkind = \"service\"\nfrom = \"client\"\nto = \"server\"\nto_cores = \"{cores}\"\n\
             {flow}\nservice = {{ {service} }}\n[run]\n{run}\n"
        ))
    }

    /// Returns the report of a complete run.
    pub fn report(&self) -> Report {
        let mut run = Run::new(&self.plan(), Options::default());
        assert_eq!(run.run(|_| true), Ok(true));
        run.report()
    }

    /// Returns the world after `until_us`.
    pub fn after(&self, until_us: u64) -> Simulation<World> {
        crate::cluster::lab::run(&self.plan(), until_us)
    }

    /// Returns the number of requests answered within `until_us`, and the sum of their latencies in ps.
    pub fn answered(&self, until_us: u64) -> (u64, u128) {
        let (counts, latency) = asked(&self.after(until_us));
        assert_eq!(counts.answered, latency.count());
        (counts.answered, latency.sum())
    }
}

/// Returns the request counts and latencies of all clients.
pub fn asked(simulation: &Simulation<World>) -> (RequestCounts, Histogram) {
    let mut found = (RequestCounts::default(), Histogram::default());
    for end in crate::cluster::stats::streams(simulation) {
        if let Some(counts) = end.application.request_counts() {
            found.0 = found.0.plus(counts);
            found.1.merge(end.application.latency().expect("it asks"));
        }
    }
    found
}

/// Returns the network stacks of the server's cores.
pub fn cores(simulation: &Simulation<World>) -> Vec<&NetStack> {
    servers(simulation)[0].engines::<NetStack>().collect()
}

/// Returns the workers of the server, the requests that wait, and the statistics of its services.
pub fn workers(simulation: &Simulation<World>) -> (u32, usize, ServiceStats) {
    let mut all = (0, 0, ServiceStats::default());
    for (_, most, waiting, stats) in cores(simulation).into_iter().flat_map(NetStack::services) {
        all.0 += most;
        all.1 += waiting;
        all.2.merge(stats);
    }
    all
}

/// Returns the rows of a table.
pub fn rows(report: &Report, table: &str) -> Vec<Value> {
    let table = report.table(table).unwrap_or_else(|| panic!("no table {table}"));
    table.rows.iter().map(|row| table.row_json(row)).collect()
}

/// Returns a value of the only row of a table.
pub fn number(report: &Report, table: &str, column: &str) -> f64 {
    rows(report, table)[0][column].as_f64().unwrap_or_else(|| panic!("no {column} in {table}"))
}
