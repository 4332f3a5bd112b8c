//! Attaches external controllers and governors to a run, and records the packets of a host.

use super::recording::HostPort;
use super::Run;
use crate::error::{HostError, MissingComponent};
use crate::read::ends::machines;
use hostnet_config::Code;
use hostnet_model::control::{Control, Controller};
use hostnet_model::params::{ClusterParams, HostKind, ServerParams};
use hostnet_model::power::{Governor, PowerManager};
use hostnet_model::tiering::{Tiering, TieringPolicy};
use hostnet_model::{Machine, PartKind, World};

/// Name of a single server, which has no name in the configuration.
const LONE: &str = "server";

/// Returns the name of a host for users.
fn display_name(name: &str) -> &str {
    if name.is_empty() {
        LONE
    } else {
        name
    }
}

/// Returns the number of the host with this name.
fn host_number(cluster: &ClusterParams, host: &str) -> Result<usize, HostError> {
    cluster.hosts.iter().position(|own| display_name(&own.name) == host).ok_or_else(|| {
        let known = cluster.hosts.iter().map(|host| display_name(&host.name));
        HostError::new(Code::DoesNotExist, host, format!("no such host; {}", hostnet_config::suggestion(host, known)))
    })
}

fn is_server(cluster: &ClusterParams, host: usize) -> bool {
    matches!(cluster.hosts[host].kind, HostKind::Server(_))
}

/// Returns the number of servers among the hosts before `host`. Servers have their own partitions, in the order of
/// the hosts.
fn servers_before(cluster: &ClusterParams, host: usize) -> usize {
    (0..host).filter(|&host| is_server(cluster, host)).count()
}

impl Run {
    /// Attaches an external controller to a host. A run that resumes from a checkpoint restores the state of the
    /// controller.
    ///
    /// # Errors
    /// Returns an error if there is no such host, if its rule is not `"user"`, or if the state cannot be restored.
    pub fn attach(&mut self, host: &str, controller: Box<dyn Controller>) -> Result<(), HostError> {
        let lone = self.plan.server();
        let wants_policy = lone.and_then(ServerParams::tiering).is_some_and(|(_, tiering)| tiering.needs_policy);
        let table = if lone.is_some() { "control".to_owned() } else { format!("host.{host}.control") };
        let Some(machine) = self.server_mut(host, "is an endpoint, which has nothing to control")? else {
            return Ok(());
        };
        if machine.control().is_none_or(|control| control.name().is_none()) {
            let rule = if wants_policy {
                "wants a tiering policy, and no controller: in Python an object with a method on_pages".to_owned()
            } else {
                format!("its rule is not \"user\"; set {table}.rule = \"user\"")
            };
            return Err(HostError::new(Code::RequiresKey, host, rule));
        }
        machine.attach_controller(controller).map_err(|why| HostError::new(Code::BadCheckpoint, host, why))
    }

    /// Attaches the policy of the migration of pages to a host. A run that resumes from a checkpoint restores the state
    /// of the policy.
    ///
    /// # Errors
    /// Returns an error if there is no such host, if it has no workload of kind "tiering" with `policy = "user"`, or if
    /// the state cannot be restored.
    pub fn attach_policy(&mut self, host: &str, policy: Box<dyn TieringPolicy>) -> Result<(), HostError> {
        let Some(machine) = self.server_mut(host, "is an endpoint, which has no pages")? else {
            return Ok(());
        };
        let rule = match machine.first::<Tiering>() {
            None => Some("has no workload of kind \"tiering\", so that a policy has no pages to move"),
            Some(tiering) if !tiering.needs_policy() => {
                Some("its pages stay; set policy = \"user\" in the workload of kind \"tiering\"")
            }
            Some(_) => None,
        };
        if let Some(rule) = rule {
            return Err(HostError::new(Code::RequiresKey, host, rule));
        }
        machine.attach_policy(policy).map_err(|why| HostError::new(Code::BadCheckpoint, host, why))
    }

    /// Attaches an external governor to a host, with a copy for each frequency domain. The host is `"server"` if the
    /// configuration describes a single server without a network. A run that resumes from a checkpoint restores the
    /// state of the governor.
    ///
    /// # Errors
    /// Returns an error if there is no such host, if its governor is not `"user"`, or if the state cannot be
    /// restored.
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

    /// Returns the machine of a server, or `None` if another process simulates it.
    fn server_mut(&mut self, host: &str, endpoint: &str) -> Result<Option<&mut Machine>, HostError> {
        let (cluster, parts) = (&self.plan.cluster, self.state.simulation.parts_mut());
        let number = host_number(cluster, host)?;
        if !is_server(cluster, number) {
            return Err(HostError::new(Code::WrongHostKind, host, endpoint));
        }
        match &mut parts[servers_before(cluster, number)].0 {
            World::Server(machine) => Ok(Some(machine)),
            // Not an error: the process that simulates the server attaches its own copy.
            World::Remote => Ok(None),
            World::Fabric(_) => unreachable!("partitions of servers come first"),
        }
    }

    /// Returns the hosts with `rule = "user"`.
    #[must_use]
    pub fn user_controlled_hosts(&self) -> Vec<&str> {
        self.controls().filter(|(_, control)| control.name().is_some()).map(|(host, _)| host).collect()
    }

    /// Checks that every host with `rule = "user"` has its controller, every host with `governor = "user"` its governor
    /// and every host whose pages migrate its policy, and that their states can be part of the requested checkpoints.
    ///
    /// # Errors
    /// The first host that is not ready.
    pub fn check_controllers(&self) -> Result<(), HostError> {
        // External state has to be serializable only if a checkpoint is due.
        let keeps = self.options.checkpoint_at_ps > 0 || self.options.checkpoint_every_ps > 0;
        for (host, control) in self.controls() {
            if let Some(name) = control.missing() {
                return Err(HostError::not_given(host, MissingComponent::Controller, name));
            }
            if keeps {
                control.check_state().map_err(|why| HostError::new(Code::BadCheckpoint, host, why))?;
            }
        }
        for (host, tiering) in self.migrations() {
            if tiering.is_missing() {
                return Err(HostError::not_given(host, MissingComponent::Policy, self.tiering_name()));
            }
            if keeps {
                tiering.check_state().map_err(|why| HostError::new(Code::BadCheckpoint, host, why))?;
            }
        }
        for (host, power) in self.managers() {
            if let Some(name) = power.missing() {
                return Err(HostError::not_given(host, MissingComponent::Governor, name));
            }
            if keeps {
                power.check_state().map_err(|why| HostError::new(Code::BadCheckpoint, host, why))?;
            }
        }
        Ok(())
    }

    /// Checks that an external component fits in all processes.
    ///
    /// # Errors
    /// The error of the first process in which it does not fit.
    pub fn agree_on_host(&self, own: Result<(), HostError>) -> Result<(), HostError> {
        let errors =
            self.processes.all_gather(own.err().map(|error| (error.code.name().to_owned(), error.host, error.why)));
        errors.into_iter().flatten().next().map_or(Ok(()), |(code, host, why)| {
            // The exchange carries serializable values only, so a code goes by its name.
            let code = Code::named(&code).unwrap_or(Code::RequiresKey);
            Err(HostError::new(code, &host, why))
        })
    }

    /// Records the packets that a host sends and receives from now on, for [`Run::run_recorded`].
    ///
    /// # Errors
    /// Returns an error if there is no such host, or if the network carries messages whole.
    pub fn record(&mut self, host: &str) -> Result<(), HostError> {
        if !self.plan.cluster.fidelity.is_packet() {
            let why = "network.fidelity is \"flow\", which has no packets to record";
            return Err(HostError::new(Code::NotSupported, host, why));
        }
        let worlds = self.state.simulation.parts().iter().map(|part| &part.0);
        let port = port(&self.plan.cluster, worlds, host)?;
        self.recording.start(&mut self.state.simulation, port);
        Ok(())
    }

    /// Returns the servers with host congestion control, with the names of their hosts.
    fn controls(&self) -> impl Iterator<Item = (&str, &Control)> {
        self.named_machines().filter_map(|(host, machine)| Some((host, machine.control()?)))
    }

    /// Returns the migrations of pages, with the names of their hosts.
    fn migrations(&self) -> impl Iterator<Item = (&str, &Tiering)> {
        self.named_machines().filter_map(|(host, machine)| Some((host, machine.first::<Tiering>()?)))
    }

    /// Returns the name of the workload that migrates pages.
    fn tiering_name(&self) -> &str {
        let server = self.plan.server();
        let class = |server: &ServerParams| server.tiering().map(|(class, _)| usize::from(class));
        server.and_then(|server| Some(server.workloads[class(server)?].name.as_str())).unwrap_or_default()
    }

    /// Returns the power managers of servers, with the names of their hosts.
    fn managers(&self) -> impl Iterator<Item = (&str, &PowerManager)> {
        self.named_machines().filter_map(|(host, machine)| Some((host, machine.first::<PowerManager>()?)))
    }

    /// Returns the servers that this process simulates, with the names of their hosts.
    fn named_machines(&self) -> impl Iterator<Item = (&str, &Machine)> {
        let hosts = self.plan().cluster.hosts.iter().filter(|host| matches!(host.kind, HostKind::Server(_)));
        let names: Vec<&str> = hosts.map(|host| display_name(&host.name)).collect();
        machines(self.simulation()).map(move |(number, machine)| (names[number], machine))
    }
}

/// Returns the place of a host, or `None` if another process simulates it.
fn port<'a>(
    cluster: &ClusterParams,
    worlds: impl Iterator<Item = &'a World>,
    host: &str,
) -> Result<Option<HostPort>, HostError> {
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
            return Ok(Some(HostPort { partition, part }));
        }
    }
    if elsewhere {
        return Ok(None);
    }
    Err(HostError::new(Code::WrongHostKind, host, "has no NIC"))
}
