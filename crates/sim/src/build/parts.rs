//! The parts of a server and of its sockets, in the order of their numbers.

use super::{Builder, SocketBuilder};
use hostnet_model::cha::{Cha, Wiring};
use hostnet_model::core::Core;
use hostnet_model::iio::{self, Iio};
use hostnet_model::memory::Channel;
use hostnet_model::params::LineSize;
use hostnet_model::{Component, PartKind};

impl Builder<'_> {
    /// All parts: those of one socket after the other, then what watches the host.
    pub(super) fn components(&self) -> Vec<Component> {
        let mut all: Vec<Component> = self.sockets().flat_map(|mut socket| socket.components()).collect();
        if let Some(control) = &self.params.control {
            all.push(self.control(control).into());
        }
        all
    }
}

impl SocketBuilder<'_> {
    /// The parts of a socket. Memory is handed out to them in this order.
    fn components(&mut self) -> Vec<Component> {
        let params = self.params;
        let mut all = self.cores();
        all.push(self.cha().into());
        all.extend(self.channels());
        all.push(self.iio().into());
        all.extend(self.drives().into_iter().map(Component::from));
        if let Some(nic) = &params.nic {
            all.extend(self.nic(nic).or_else(|| self.loaded_nic(nic)).map(Component::from));
        }
        if let Some(remote) = &params.remote {
            all.extend(self.remote(remote));
        }
        all
    }

    /// The cores with all that runs on them.
    pub(crate) fn cores(&mut self) -> Vec<Component> {
        let mut engines = self.engines();
        let mut params = vec![self.params.core.clone(); engines.len()];
        let before: Vec<u32> = engines.iter().map(|engines| engines.len() as u32).collect();
        for (core, of_core, stack) in self.stacks(&before) {
            engines[core as usize].push(stack.into());
            params[core as usize] = of_core;
        }
        let core = |(engines, params)| Core::new(PartKind::Core, params, engines, self.server.classes).into();
        let mut all: Vec<Component> = engines.into_iter().zip(&params).map(core).collect();
        self.copiers(&mut all);
        all
    }

    fn cha(&self) -> Cha {
        let params = self.params;
        let layout = &self.layout;
        let wiring = Wiring { cores: layout.cores(), channels: layout.channels(), upis: layout.upis() };
        let cha = Cha::new(
            layout.number,
            params.cha.clone(),
            wiring,
            &params.core,
            &params.iio,
            params.cache.as_ref(),
            self.server.classes,
        );
        match &params.remote {
            Some(remote) => cha.with_remote(remote),
            None => cha,
        }
    }

    fn channels(&self) -> Vec<Component> {
        let (memory, cha) = (&self.params.memory, &self.params.cha);
        let channel = |number| {
            let (dram, controller) = (&memory.dram, &memory.controller);
            let to = self.layout.cha();
            Channel::new(dram, controller, to, cha.from_mc_ps, cha.write_ack_ps, self.server.classes, number).into()
        };
        (0..memory.map.channels * memory.dram.subchannels).map(channel).collect()
    }

    fn iio(&self) -> Iio {
        let params = self.params;
        let ddio = params.cache.as_ref().map_or_else(Vec::new, |cache| {
            let nic = params.nic.iter().map(|nic| nic.ddio);
            cache.ddio.drives.iter().copied().chain(nic).collect()
        });
        let rng = self.server.component_rng(self.layout.iio);
        let mut iio = Iio::new(params.iio.clone(), self.links(), ddio, rng, self.server.classes);
        if params.nic.as_ref().is_some_and(|nic| !nic.relaxed_ordering) {
            iio.keep_order(params.ssd.count as usize);
        }
        if let Some(control) = &self.server.params.control {
            iio.set_clock(control.iio_clock_ps);
        }
        iio.set_line_size(params.nic.as_ref().map_or(LineSize::LINE, |nic| nic.line_size));
        iio
    }

    /// The PCIe links at the IIO: those of the drives, and of the NIC.
    fn links(&self) -> iio::Wiring {
        let params = self.params;
        let drives = (0..params.ssd.count).map(|_| &params.pcie);
        let nic = params.nic.iter().map(|nic| &nic.pcie);
        let links = self.layout.devices().iter().zip(drives.chain(nic).cloned());
        iio::Wiring { cha: self.layout.cha(), links: links.collect() }
    }
}
