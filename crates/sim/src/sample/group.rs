//! The domains of a machine, and what they are called.

use hostnet_measure::{Domain, Usage};
use hostnet_model::cha;
use hostnet_model::upi::UpiPool;
use hostnet_model::{Component, Layout, Machine};

/// The domains of a machine and its hops' queues, in the order of the reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Reads of cores: LFB to DRAM and back.
    C2mRead,
    /// Write-backs of cores: LFB to CHA.
    C2mWrite,
    /// Writes of devices: IIO to the memory controller.
    P2mWrite,
    /// Reads of devices: IIO to DRAM and back.
    P2mRead,
    /// The line fill buffers.
    Lfb,
    /// The request buffers of the CHA.
    Tor,
    /// Reads between CHA and DRAM.
    ChaRead,
    /// Writes between CHA and memory controller.
    ChaWrite,
    /// The read pending queues.
    Rpq,
    /// The write pending queues.
    Wpq,
    /// Posted credits of the PCIe links.
    Posted,
    /// Lines that devices have asked for.
    NonPosted,
    /// Lines on their way to an L2 for its prefetchers.
    Prefetch,
    /// Reads on their way to the CHA of another socket.
    UpiRequest,
    /// Write-backs on their way to the CHA of another socket.
    UpiWriteBack,
    /// Data on its way to a core of another socket.
    UpiData,
    /// Acknowledgements on their way to a core of another socket.
    UpiAnswer,
}

impl Group {
    /// Every group.
    pub const ALL: [Self; 17] = [
        Self::C2mRead,
        Self::C2mWrite,
        Self::P2mWrite,
        Self::P2mRead,
        Self::Lfb,
        Self::Tor,
        Self::ChaRead,
        Self::ChaWrite,
        Self::Rpq,
        Self::Wpq,
        Self::Posted,
        Self::NonPosted,
        Self::Prefetch,
        Self::UpiRequest,
        Self::UpiWriteBack,
        Self::UpiData,
        Self::UpiAnswer,
    ];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::C2mRead => "C2M-Read",
            Self::C2mWrite => "C2M-Write",
            Self::P2mWrite => "P2M-Write",
            Self::P2mRead => "P2M-Read",
            Self::Lfb => "LFB",
            Self::Tor => "CHA TOR",
            Self::ChaRead => "CHA->DRAM read",
            Self::ChaWrite => "CHA->MC write",
            Self::Rpq => "RPQ",
            Self::Wpq => "WPQ",
            Self::Posted => "PCIe posted",
            Self::NonPosted => "PCIe non-posted",
            Self::Prefetch => "L2 prefetch",
            Self::UpiRequest => "UPI request",
            Self::UpiWriteBack => "UPI write-back",
            Self::UpiData => "UPI data",
            Self::UpiAnswer => "UPI answer",
        }
    }

    /// Classes that its domains keep per workload.
    fn books(self) -> usize {
        match self {
            Self::Tor | Self::ChaRead | Self::ChaWrite => cha::BOOKS,
            _ => 1,
        }
    }

    /// What the workload `class`, or each of them, made of a domain of the group.
    pub fn usages(self, domain: &Domain, class: Option<usize>) -> impl Iterator<Item = &Usage> {
        let usages = domain.classes().iter().enumerate();
        usages.filter(move |(book, _)| class.is_none_or(|class| class == book / self.books())).map(|(_, usage)| usage)
    }

    /// The pool that it shares its credits with, or nothing.
    #[must_use]
    pub fn shares_with(self) -> &'static str {
        match self {
            Self::C2mRead | Self::C2mWrite => "LFB",
            Self::ChaRead | Self::ChaWrite => "CHA TOR",
            _ => "",
        }
    }
}

/// The domains of one group: the part that each belongs to, and the domain.
#[must_use]
pub fn domains(machine: &Machine, group: Group) -> Vec<(String, &Domain)> {
    let layout = machine.layout();
    let parts = machine.components().iter().enumerate();
    parts.filter_map(|(index, component)| domain_of(component, group, layout.core + index as u32, machine)).collect()
}

fn domain_of<'a>(component: &'a Component, group: Group, id: u32, machine: &Machine) -> Option<(String, &'a Domain)> {
    let layout = machine.layout();
    match (component, group) {
        (Component::Core(core), Group::C2mRead | Group::C2mWrite | Group::Lfb) if core.is_busy() => {
            let domain = match group {
                Group::C2mRead => core.read(),
                Group::C2mWrite => core.write(),
                _ => core.lfb(),
            };
            Some((core_name(&layout, id), domain))
        }
        (Component::CachedCore(core), Group::C2mRead | Group::C2mWrite | Group::Lfb | Group::Prefetch)
            if core.is_busy() =>
        {
            let domain = match group {
                Group::C2mRead => core.read(),
                Group::C2mWrite => core.write(),
                Group::Prefetch => core.prefetch(),
                _ => core.lfb(),
            };
            Some((format!("core {}", id - layout.core), domain))
        }
        (Component::NetCore(core), Group::C2mRead | Group::C2mWrite | Group::Lfb) => {
            let domain = match group {
                Group::C2mRead => core.read(),
                Group::C2mWrite => core.write(),
                _ => core.lfb(),
            };
            Some((format!("core {}", id - layout.core), domain))
        }
        (Component::Cha(cha), Group::Tor) => Some(("cha".to_owned(), cha.tor())),
        (Component::Cha(cha), Group::ChaRead) => Some(("cha".to_owned(), cha.read())),
        (Component::Cha(cha), Group::ChaWrite) => Some(("cha".to_owned(), cha.write())),
        (Component::Channel(channel), Group::Rpq) => {
            Some((format!("channel {}", id - layout.channel), channel.controller().rpq()))
        }
        (Component::Channel(channel), Group::Wpq) => {
            Some((format!("channel {}", id - layout.channel), channel.controller().wpq()))
        }
        (Component::Iio(iio), Group::P2mWrite) => Some(("iio".to_owned(), iio.write())),
        (Component::Iio(iio), Group::P2mRead) => Some(("iio".to_owned(), iio.read())),
        (Component::Ssd(ssd), Group::Posted) => Some((format!("ssd {}", id - layout.ssd), ssd.posted())),
        (Component::Ssd(ssd), Group::NonPosted) => Some((format!("ssd {}", id - layout.ssd), ssd.nonposted())),
        (Component::Nic(nic), Group::Posted) => Some(("nic".to_owned(), nic.posted())),
        (Component::Nic(nic), Group::NonPosted) => Some(("nic".to_owned(), nic.nonposted())),
        (Component::Upi(upi), Group::UpiRequest | Group::UpiWriteBack | Group::UpiData | Group::UpiAnswer) => {
            let pool = match group {
                Group::UpiRequest => UpiPool::Request,
                Group::UpiWriteBack => UpiPool::WriteBack,
                Group::UpiData => UpiPool::Data,
                _ => UpiPool::Answer,
            };
            Some((format!("upi {}", id - layout.upi), upi.credits(pool)))
        }
        _ => None,
    }
}

/// What a core is called in reports; those of other sockets are numbered by themselves.
fn core_name(layout: &Layout, id: u32) -> String {
    if id >= layout.remote {
        format!("remote {}", id - layout.remote)
    } else {
        format!("core {}", id - layout.core)
    }
}
