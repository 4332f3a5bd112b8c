//! What joins a run from outside: controllers, governors, and the record of a host's packets.

use super::Run;
use crate::error::{HostError, Missing};
use crate::read::ends::machines;
use hostnet_config::Code;
use hostnet_kernel::{ComponentId, Time};
use hostnet_model::control::{Control, Controller};
use hostnet_model::params::{ClusterParams, HostKind};
use hostnet_model::power::{Governor, PowerManager};
use hostnet_model::{Machine, Packet, PartKind, World};

/// Where a host is: its partition, and the NIC or endpoint that its cable ends at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Port {
    partition: usize,
    part: ComponentId,
}

/// What a server with nothing around it, which has no name, is called.
const LONE: &str = "server";

/// The name of a host, as users say it.
fn called(name: &str) -> &str {
    if name.is_empty() {
        LONE
    } else {
        name
    }
}

/// The number of a host.
fn host_number(cluster: &ClusterParams, host: &str) -> Result<usize, HostError> {
    cluster.hosts.iter().position(|own| called(&own.name) == host).ok_or_else(|| {
        let known = cluster.hosts.iter().map(|host| called(&host.name));
        HostError::new(Code::DoesNotExist, host, format!("no such host; {}", hostnet_config::suggestion(host, known)))
    })
}

fn is_server(cluster: &ClusterParams, host: usize) -> bool {
    matches!(cluster.hosts[host].kind, HostKind::Server(_))
}

/// How many of the hosts before one are servers: servers have partitions of their own, in their order.
fn servers_before(cluster: &ClusterParams, host: usize) -> usize {
    (0..host).filter(|&host| is_server(cluster, host)).count()
}

impl Run {
    /// Lets a controller from outside watch a host; a run that goes on from a checkpoint hands it its state there.
    ///
    /// # Errors
    /// If there is no such host, its rule is not `"user"`, or the state cannot be continued.
    pub fn attach(&mut self, host: &str, controller: Box<dyn Controller>) -> Result<(), HostError> {
        let Some(machine) = self.server_mut(host, "is an endpoint, which has nothing to control")? else {
            return Ok(());
        };
        if machine.control().is_none_or(|control| control.name().is_none()) {
            let rule = format!("its rule is not \"user\"; set host.{host}.control.rule = \"user\"");
            return Err(HostError::new(Code::RequiresKey, host, rule));
        }
        machine.attach_controller(controller).map_err(|why| HostError::new(Code::BadCheckpoint, host, why))
    }

    /// Lets a governor from outside decide on the frequencies of a host, which is "server" where the configuration
    /// describes one server and nothing around it; each frequency domain has a copy. A run that goes on from a
    /// checkpoint hands it its state there.
    ///
    /// # Errors
    /// If there is no such host, its governor is not `"user"`, or the state cannot be continued.
    #[expect(clippy::needless_pass_by_value, reason = "it is handed over, as a controller is")]
    pub fn attach_governor(&mut self, host: &str, governor: Box<dyn Governor>) -> Result<(), HostError> {
        let key = if self.plan.server().is_some() { "power".to_owned() } else { format!("host.{host}.power") };
        let Some(machine) = self.server_mut(host, "is an endpoint, whose cores have no frequencies")? else {
            return Ok(());
        };
        if machine.first::<PowerManager>().is_none_or(|power| power.name().is_none()) {
            let rule = format!("its governor is not \"user\"; set {key}.governor = \"user\"");
            return Err(HostError::new(Code::RequiresKey, host, rule));
        }
        machine.attach_governor(&*governor).map_err(|why| HostError::new(Code::BadCheckpoint, host, why))
    }

    /// The machine of a server; none when that is in another process.
    fn server_mut(&mut self, host: &str, endpoint: &str) -> Result<Option<&mut Machine>, HostError> {
        let (cluster, parts) = (&self.plan.cluster, self.state.simulation.parts_mut());
        let number = host_number(cluster, host)?;
        if !is_server(cluster, number) {
            return Err(HostError::new(Code::WrongHostKind, host, endpoint));
        }
        match &mut parts[servers_before(cluster, number)].0 {
            World::Server(machine) => Ok(Some(machine)),
            World::Remote => Ok(None),
            World::Fabric(_) => unreachable!("partitions of servers come first"),
        }
    }

    /// The hosts with `rule = "user"`.
    #[must_use]
    pub fn controlled(&self) -> Vec<&str> {
        self.controls().filter(|(_, control)| control.name().is_some()).map(|(host, _)| host).collect()
    }

    /// Whether every host with `rule = "user"` has its controller, and every host with `governor = "user"` its
    /// governor, and the run can be part of the checkpoint that is asked for.
    ///
    /// # Errors
    /// The first host that is not ready.
    pub fn check_controllers(&self) -> Result<(), HostError> {
        let keeps = self.options.checkpoint_at_ps > 0 || self.options.checkpoint_every_ps > 0;
        for (host, control) in self.controls() {
            if let Some(name) = control.missing() {
                return Err(HostError::not_given(host, Missing::Controller, name));
            }
            if keeps {
                control.check_state().map_err(|why| HostError::new(Code::BadCheckpoint, host, why))?;
            }
        }
        for (host, power) in self.managers() {
            if let Some(name) = power.missing() {
                return Err(HostError::not_given(host, Missing::Governor, name));
            }
            if keeps {
                power.check_state().map_err(|why| HostError::new(Code::BadCheckpoint, host, why))?;
            }
        }
        Ok(())
    }

    /// Whether something from outside fits in all processes.
    ///
    /// # Errors
    /// The first thing that does not fit in one of them.
    pub fn agree_on_host(&self, own: Result<(), HostError>) -> Result<(), HostError> {
        let errors = self.told(own.err().map(|error| (error.code.name().to_owned(), error.host, error.why)));
        errors.into_iter().flatten().next().map_or(Ok(()), |(code, host, why)| {
            let code = Code::named(&code).unwrap_or(Code::RequiresKey);
            Err(HostError::new(code, &host, why))
        })
    }

    /// Records from now on what a host sends and receives, for [`Run::run_recorded`].
    ///
    /// # Errors
    /// If there is no such host.
    pub fn record(&mut self, host: &str) -> Result<(), HostError> {
        let (cluster, parts) = (&self.plan.cluster, self.state.simulation.parts_mut());
        self.recorded = port(cluster, parts.iter().map(|part| &part.0), host)?.map(|port| {
            if let Some(packets) = parts[port.partition].0.packets_mut() {
                packets.record(port.part);
            }
            port.partition
        });
        self.records = true;
        Ok(())
    }

    /// What was recorded since the last time.
    pub(super) fn take_recorded(&mut self) -> Vec<(Time, Packet)> {
        if !self.records {
            return Vec::new();
        }
        let parts = self.state.simulation.parts_mut();
        let packets = self.recorded.and_then(|partition| parts[partition].0.packets_mut());
        let own = packets.map(hostnet_model::line::Packets::take_recorded).unwrap_or_default();
        self.told_all(own)
    }

    /// The watched servers, with the names of their hosts.
    fn controls(&self) -> impl Iterator<Item = (&str, &Control)> {
        self.named_machines().filter_map(|(host, machine)| Some((host, machine.control()?)))
    }

    /// The power management of servers that have it, with the names of their hosts.
    fn managers(&self) -> impl Iterator<Item = (&str, &PowerManager)> {
        self.named_machines().filter_map(|(host, machine)| Some((host, machine.first::<PowerManager>()?)))
    }

    /// The servers of this process, with the names of their hosts.
    fn named_machines(&self) -> impl Iterator<Item = (&str, &Machine)> {
        let hosts = self.plan().cluster.hosts.iter().filter(|host| matches!(host.kind, HostKind::Server(_)));
        let names: Vec<&str> = hosts.map(|host| called(&host.name)).collect();
        machines(self.simulation()).map(move |(number, machine)| (names[number], machine))
    }
}

/// Where a host is; none when that is in another process.
fn port<'a>(
    cluster: &ClusterParams,
    worlds: impl Iterator<Item = &'a World>,
    host: &str,
) -> Result<Option<Port>, HostError> {
    let mut elsewhere = false;
    let number = host_number(cluster, host)?;
    let servers = servers_before(cluster, number);
    let endpoints = number - servers;
    for (partition, world) in worlds.enumerate() {
        let part = match world {
            World::Server(machine) if is_server(cluster, number) && partition == servers => machine.id(PartKind::Nic),
            World::Fabric(fabric) if !is_server(cluster, number) => fabric.endpoint_component(endpoints),
            World::Remote => {
                elsewhere = true;
                None
            }
            _ => None,
        };
        if let Some(part) = part {
            return Ok(Some(Port { partition, part }));
        }
    }
    if elsewhere {
        return Ok(None);
    }
    Err(HostError::new(Code::WrongHostKind, host, "has no NIC"))
}
