//! The table `services`: open-loop requests, and the workers that serve them.

use super::class::TrafficClass;
use super::flows::us;
use super::limit::{TrafficLimit, FULL};
use super::power::cores_energy_uj;
use crate::read::ends::ends;
use crate::report::table::{Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_measure::Histogram;
use hostnet_model::flow::{RequestCounts, ServiceStats, Workers};
use hostnet_model::os::NetStack;
use hostnet_model::params::{HostParams, Traffic};
use hostnet_model::Machine;
use std::collections::BTreeMap;

/// Share of requests given up at or above which clients are limited by their requests in flight.
const GIVEN_UP: f64 = 0.01;

/// Statistics of the clients of a service at a host.
#[derive(Default)]
struct ServiceClients {
    /// Number of the traffic class.
    class: usize,
    connections: u64,
    counts: RequestCounts,
    latency: Histogram,
}

/// One service at a host.
struct ServiceRow<'a> {
    class: &'a str,
    host: &'a str,
    clients: &'a ServiceClients,
    workers: ServiceWorkers,
    window_ps: f64,
    /// Energy of the host's cores per answered request of any service, in uJ.
    energy_uj: Option<f64>,
}

/// Workers of a service at a host.
#[derive(Default)]
pub(super) struct ServiceWorkers {
    service: u32,
    workers: u32,
    /// Requests waiting for a worker now.
    waiting: usize,
    /// Statistics over the window.
    stats: ServiceStats,
}

impl ServiceWorkers {
    /// Reads the workers of an endpoint.
    fn of_endpoint(workers: &Workers) -> Self {
        let [waiting, _] = workers.held();
        Self { service: workers.service(), workers: workers.workers(), waiting, stats: workers.stats().clone() }
    }

    /// Reads the workers of a server. The workers of all its cores are summed.
    fn of_server(machine: &Machine) -> Vec<Self> {
        let mut all: BTreeMap<u32, Self> = BTreeMap::new();
        for (service, most, waiting, stats) in machine.engines().flat_map(NetStack::services) {
            let own = all.entry(service).or_default();
            own.service = service;
            // Every core has its share of the workers of the host.
            own.workers += most;
            own.waiting += waiting;
            own.stats.merge(stats);
        }
        all.into_values().collect()
    }
}

impl ServiceRow<'_> {
    /// Returns the mean over the window of a count times ps.
    fn mean(&self, area_ps: u128) -> Option<f64> {
        (self.window_ps > 0.0).then(|| area_ps as f64 / self.window_ps)
    }

    fn per_second(&self, count: u64) -> Option<f64> {
        (self.window_ps > 0.0).then(|| count as f64 * 1e12 / self.window_ps)
    }
}

/// Rows of the table: [`ServiceRow`].
struct ServiceRows;

impl TableRows for ServiceRows {
    type Row<'a> = ServiceRow<'a>;
}

const SERVICES: &[Column<ServiceRows>] = &[
    Column::key(Column::text("class", |row| row.class.into())),
    Column::key(Column::text("host", |row| row.host.into())),
    Column::given(Column::integer("connections", |row| row.clients.connections.into())),
    Column::given(Column::integer("workers", |row| row.workers.workers.into())),
    Column::integer("requests", |row| row.clients.counts.begun.into()),
    Column::integer("answered", |row| row.clients.counts.answered.into()),
    Column::integer("given_up", |row| row.clients.counts.given_up.into()),
    Column::number("answered_per_s", |row| row.per_second(row.clients.counts.answered).into()),
    Column::number("mean_us", |row| us(row.clients.latency.mean())),
    Column::number("p50_us", |row| us(row.clients.latency.quantile(0.5))),
    Column::number("p95_us", |row| us(row.clients.latency.quantile(0.95))),
    Column::number("p99_us", |row| us(row.clients.latency.quantile(0.99))),
    Column::number("p99_9_us", |row| us(row.clients.latency.quantile(0.999))),
    Column::number("max_us", |row| us(row.clients.latency.quantile(1.0))),
    Column::integer("arrived", |row| row.workers.stats.arrived.into()),
    Column::integer("served", |row| row.workers.stats.served.into()),
    Column::number("wait_mean_us", |row| us(row.workers.stats.wait.mean())),
    Column::number("wait_p99_us", |row| us(row.workers.stats.wait.quantile(0.99))),
    Column::number("queue_mean", |row| row.mean(row.workers.stats.queue_area_ps).into()),
    Column::integer("queue_max", |row| row.workers.stats.queue_max.into()),
    Column::number("busy_share", |row| {
        row.mean(row.workers.stats.busy_area_ps).map(|mean| mean / f64::from(row.workers.workers)).into()
    }),
    Column::optional(Column::number("energy_uj_per_request", |row| row.energy_uj.into())),
];

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("services", SERVICES)
}

/// Builds the table, with a row per service and host that serves it. Returns `None` without services.
pub(super) fn service_table(view: &WorldView) -> Option<Table> {
    let cluster = &view.plan.cluster;
    let mut clients: BTreeMap<(u16, u32), ServiceClients> = BTreeMap::new();
    for (number, _, _, application) in view.simulation.worlds().flat_map(ends) {
        let flow = &cluster.flows[number as usize];
        let (Traffic::Service(service), Some(counts)) = (&flow.traffic, application.request_counts()) else {
            continue;
        };
        let own = clients.entry((flow.to, service.number)).or_default();
        own.class = usize::from(flow.class);
        own.connections += 1;
        own.counts = own.counts.plus(counts);
        application.latency().into_iter().for_each(|latency| own.latency.merge(latency));
    }
    if clients.is_empty() {
        return None;
    }
    let energies = energies_per_request(view, &clients);
    let mut table = Table::of("services", SERVICES);
    for (number, host, workers) in served(view) {
        // Workers without a client have no class to be listed under.
        let Some(clients) = clients.get(&(number, workers.service)) else { continue };
        let class = &cluster.classes[clients.class];
        let (host, window_ps) = (host.name.as_str(), view.window_ps());
        let energy_uj = energies.get(&number).copied();
        table.add(SERVICES, &ServiceRow { class, host, clients, workers, window_ps, energy_uj });
    }
    Some(table)
}

/// Returns the energy of the cores of each server per answered request, in uJ, for servers with power management.
fn energies_per_request(view: &WorldView, clients: &BTreeMap<(u16, u32), ServiceClients>) -> BTreeMap<u16, f64> {
    let mut answered: BTreeMap<u16, u64> = BTreeMap::new();
    for (&(host, _), clients) in clients {
        *answered.entry(host).or_default() += clients.counts.answered;
    }
    let of_server = |(number, machine): (usize, &Machine)| {
        let number = number as u16;
        let count = *answered.get(&number).filter(|&&count| count > 0)?;
        Some((number, cores_energy_uj(machine, view.now)? / count as f64))
    };
    view.servers().filter_map(of_server).collect()
}

/// Returns the workers of all services, ordered by host.
fn served<'a>(view: &'a WorldView<'a>) -> Vec<(u16, &'a HostParams, ServiceWorkers)> {
    let of_endpoints = view.endpoints().flat_map(|(number, host, endpoint)| {
        endpoint.services().iter().map(move |workers| (number, host, ServiceWorkers::of_endpoint(workers)))
    });
    let of_servers = view.servers().flat_map(|(number, machine)| {
        let host = &view.plan.cluster.hosts[number];
        ServiceWorkers::of_server(machine).into_iter().map(move |served| (number as u16, host, served))
    });
    let mut all: Vec<_> = of_endpoints.chain(of_servers).collect();
    // Endpoints and servers are listed apart, but rows are in the order of the hosts.
    all.sort_by_key(|(number, ..)| *number);
    all
}

/// Names the number of requests in flight as the limit, if clients give up requests because it is reached.
pub(super) fn abandoned_requests(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let ends = view.simulation.worlds().flat_map(ends).filter(|_| class.is_of_services());
    let own = ends.filter(|(number, ..)| class.numbers.binary_search(&(*number as usize)).is_ok());
    let counts = own.filter_map(|(.., application)| application.request_counts());
    let [given_up, answered] = counts.fold([0, 0], |[up, done], counts| [up + counts.given_up, done + counts.answered]);
    let load = given_up as f64 / (given_up + answered).max(1) as f64;
    let why = format!(
        "as many requests as `in_flight` allows wait for answers: {given_up} others are given up, and {answered} \
         are answered"
    );
    (load >= GIVEN_UP).then_some(TrafficLimit {
        limit: "requests in flight",
        place: String::new(),
        load: Some(load),
        why,
    })
}

/// Names the busiest workers of a class, if they are always busy.
pub(super) fn busy_workers(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let of_class = |served: &ServiceWorkers| {
        let is = |traffic: &Traffic| matches!(traffic, Traffic::Service(own) if own.number == served.service);
        class.flows.iter().any(|flow| is(&flow.traffic))
    };
    if !class.is_of_services() {
        return None;
    }
    let all = served(view).into_iter().filter(|(number, ..)| class.hosts[1].contains(number));
    let busy = all.filter(|(_, _, served)| of_class(served)).map(|(_, host, served)| {
        let most_ps = view.window_ps() * f64::from(served.workers);
        (served.stats.busy_area_ps as f64 / most_ps, host, served.waiting)
    });
    let (busy, host, waiting) = busy.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|busiest| busiest.0 >= FULL)?;
    let why = format!(
        "the workers of {} are busy {:.0} % of the time, {waiting} requests wait for them",
        host.name,
        busy * 100.0
    );
    Some(TrafficLimit { limit: "workers", place: host.name.clone(), load: Some(busy), why })
}
