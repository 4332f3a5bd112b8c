//! Builds the caching and home agents.

use super::SocketBuilder;
use hostnet_model::cha::{Cha, ChaWiring};
use hostnet_model::PartKind;

impl SocketBuilder<'_> {
    pub(super) fn cha(&self) -> Cha {
        let params = self.params;
        let layout = &self.layout;
        let upis = if self.server.params.upi.is_some() { self.server.layout.upis } else { layout.of(PartKind::Upi) };
        let far = if params.dimm.is_some() { PartKind::Dimm } else { PartKind::Expander };
        let expander = params.far_memory().map(|_| layout.of(far).first());
        let sram = params.mcn.as_ref().filter(|mcn| mcn.on_dimm).map(|_| layout.of(PartKind::Mcn).first());
        let pool = params.pool.as_ref().map(|_| layout.of(PartKind::Pool).first());
        let expander = expander.or(sram).or(pool);
        let wiring = ChaWiring { cores: layout.cores(), channels: layout.of(PartKind::Channel), upis, expander };
        let cha = Cha::new(
            layout.number,
            params.cha.clone(),
            wiring,
            &params.core,
            &params.iio,
            params.cache.as_ref(),
            self.server.classes,
        );
        match (&params.remote, &self.server.params.upi) {
            (Some(remote), _) => cha.with_remote(remote),
            (None, Some(upi)) => cha.with_sockets(self.server.remote_sockets(layout.number, upi)),
            (None, None) => cha,
        }
    }
}
