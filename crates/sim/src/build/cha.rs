//! The caching and home agents.

use super::SocketBuilder;
use hostnet_model::cha::{Cha, Wiring};
use hostnet_model::PartKind;

impl SocketBuilder<'_> {
    pub(super) fn cha(&self) -> Cha {
        let params = self.params;
        let layout = &self.layout;
        let upis = if self.server.params.upi.is_some() { self.server.layout.upis } else { layout.of(PartKind::Upi) };
        let expander = params.expander.as_ref().map(|_| layout.of(PartKind::Expander).first());
        let expander = expander.or_else(|| params.pool.as_ref().map(|_| layout.of(PartKind::Pool).first()));
        let wiring = Wiring { cores: layout.cores(), channels: layout.of(PartKind::Channel), upis, expander };
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
            (None, Some(upi)) => cha.with_sockets(self.server.abroad(layout.number, upi)),
            (None, None) => cha,
        }
    }
}
