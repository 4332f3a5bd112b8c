//! Builds the caching and home agents.

use super::{all, PartBuilder};
use crate::build::burst_converter::BurstConverter;
use crate::build::sockets::remote_sockets;
use crate::build::SocketBuilder;
use hostnet_model::cha::{Cha, ChaWiring};
use hostnet_model::params::SocketParams;
use hostnet_model::PartKind;

pub(super) const CHA: PartBuilder =
    PartBuilder::new(PartKind::Cha, |_| 1, |socket| all([cha(socket)])).in_bursts(coarsen);

/// Builds the agents of a socket, which are one part.
fn cha(socket: &SocketBuilder) -> Cha {
    let params = socket.params;
    let layout = &socket.layout;
    // Described sockets share the links of the server; sockets of which only cores exist have their own.
    let upis = if socket.server.params.upi.is_some() { socket.server.layout.upis } else { layout.of(PartKind::Upi) };
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
        socket.server.classes,
    );
    let control = socket.server.params.control.as_ref().filter(|control| control.expander.is_some());
    let cha = match control {
        Some(control) => cha.with_expander_registers(control.iio_clock_ps),
        None => cha,
    };
    match (&params.remote, &socket.server.params.upi) {
        (Some(remote), _) => cha.with_remote(remote),
        (None, Some(upi)) => cha.with_sockets(remote_sockets(socket.server, layout.number, upi)),
        (None, None) => cha,
    }
}

/// Converts the parameters to bursts.
fn coarsen(grain: &BurstConverter, socket: &mut SocketParams) {
    let cha = &mut socket.cha;
    let before = cha.slices;
    let per_slice = |entries: u32| grain.size.divide_slices(before, entries)[1];
    cha.slices = grain.count(before);
    cha.tor_entries = per_slice(cha.tor_entries);
    cha.tor_write_entries = per_slice(cha.tor_write_entries);
    cha.tor_expander_entries = cha.tor_expander_entries.map(per_slice);
}
