//! Checks that the distances on a die fit the delays of the configuration, which hold for parts at a mean distance.

use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{DieParams, SocketParams};

/// Minimum remaining latency of a memory response, in ps: a channel must announce a response before it arrives.
const LEAST_PS: u64 = 2;

/// Checks that no slice is so near a memory controller that a response would arrive before it is sent.
pub(super) fn check(die: &DieParams, socket: &SocketParams) -> Result<(), Issue> {
    let cha = &socket.cha;
    let nearer_ps = die.nearer_ps(&die.channels, &die.slices);
    for (key, delay_ps) in [("cha.from_mc", cha.from_mc_ps), ("cha.write_ack", cha.write_ack_ps)] {
        if delay_ps < nearer_ps + LEAST_PS {
            let (clock, keys) = match die.chiplets {
                Some(_) => ("data fabric", ["chiplets.fclk", "chiplets.hop", key, "chiplets", "chiplets"]),
                None => ("mesh", ["noc.clock", "noc.vertical", "noc.horizontal", key, "noc"]),
            };
            let shown = |ps: u64| format(ps, Dimension::Time);
            let message = format!(
                "the nearest slice is {} nearer a memory controller than the mean, which is more than {key} = {}; a \
                 faster clock of the {clock} or fewer cycles per hop are wanted",
                shown(nearer_ps),
                shown(delay_ps)
            );
            return Err(Issue::between(Code::WrongOrder, &keys, message));
        }
    }
    Ok(())
}
