//! The caching and home agents.

use super::SocketBuilder;
use hostnet_model::cha::{Cha, Wiring};
use hostnet_model::PartKind;

impl SocketBuilder<'_> {
    pub(super) fn cha(&self) -> Cha {
        let params = self.params;
        let layout = &self.layout;
        let [channels, upis] = [PartKind::Channel, PartKind::Upi].map(|kind| layout.of(kind));
        let wiring = Wiring { cores: layout.cores(), channels, upis };
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
}
