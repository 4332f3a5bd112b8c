//! The functions of a NIC, one per socket.

use super::io::link_bytes_per_s;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{NicFunctionParams, NicFunctionSpec, NicModeSpec, NicParams, NicSpec, PcieParams, Spec};

/// Sets the functions of a NIC, and returns the socket that the first is attached to.
pub(super) fn place(nic: &mut NicParams, spec: &NicSpec, server: &Spec) -> Result<usize, Issue> {
    if spec.scatter == Some(true) && spec.mode == NicModeSpec::Standard {
        let message = "has an effect only with nic.mode = \"octo\"; the first function reads all";
        return Err(Issue::between(Code::NoEffect, &["nic.scatter", "nic.mode"], message));
    }
    let Some(functions) = &spec.functions else { return Ok(0) };
    check_sockets(functions, server.server.sockets.unwrap_or(1))?;
    nic.serves = serves(functions, spec.mode, server.server.sockets.unwrap_or(1))?;
    let lanes = lanes(functions, spec.pcie.lanes)?;
    let generation = spec.pcie.generation.unwrap_or(server.pcie.generation);
    let link = |lanes| PcieParams { bytes_per_s: link_bytes_per_s(generation, lanes), ..nic.pcie.clone() };
    let mut links = functions.iter().zip(lanes).map(|(function, lanes)| (function.socket, link(lanes)));
    let Some((socket, pcie)) = links.next() else { return Ok(0) };
    let others = links.map(|(socket, pcie)| NicFunctionParams { socket, pcie }).collect();
    (nic.pcie, nic.functions, nic.octo) = (pcie, others, spec.mode == NicModeSpec::Octo);
    Ok(usize::from(socket))
}

fn check_sockets(functions: &[NicFunctionSpec], sockets: u32) -> Result<(), Issue> {
    for (number, function) in functions.iter().enumerate() {
        let path = format!("nic.functions[{number}].socket");
        let socket = function.socket;
        if u32::from(socket) >= sockets {
            let message = format!("there is no socket {socket}; server.sockets = {sockets} means 0 to {}", sockets - 1);
            return Err(Issue::between(Code::DoesNotExist, &[&path, "server.sockets"], message));
        }
        if functions[..number].iter().any(|other| other.socket == socket) {
            let message = format!("socket {socket} has a function already; give each socket one");
            return Err(Issue::new(Code::Duplicate, path, message));
        }
    }
    Ok(())
}

/// Returns the socket that each function serves; empty if every function serves its own.
fn serves(functions: &[NicFunctionSpec], mode: NicModeSpec, sockets: u32) -> Result<Vec<u8>, Issue> {
    let Some(given) = functions.iter().position(|function| function.serves.is_some()) else { return Ok(Vec::new()) };
    let path = |number: usize| format!("nic.functions[{number}].serves");
    if mode == NicModeSpec::Standard {
        let message = "has an effect only with nic.mode = \"octo\"; the first function serves all";
        return Err(Issue::between(Code::NoEffect, &[&path(given), "nic.mode"], message));
    }
    let all: Vec<u8> = functions.iter().map(|function| function.serves.unwrap_or(function.socket)).collect();
    for (number, &socket) in all.iter().enumerate() {
        if u32::from(socket) >= sockets {
            let message = format!("there is no socket {socket}; server.sockets = {sockets} means 0 to {}", sockets - 1);
            return Err(Issue::between(Code::DoesNotExist, &[&path(number), "server.sockets"], message));
        }
        if all[..number].contains(&socket) {
            let message = format!("socket {socket} is served already; give each its own");
            return Err(Issue::new(Code::Duplicate, path(number), message));
        }
    }
    Ok(all)
}

/// Returns the lanes of each function: the given number, or an equal share of the remaining lanes, a power of two.
fn lanes(functions: &[NicFunctionSpec], card: u32) -> Result<Vec<u32>, Issue> {
    let given: u32 = functions.iter().filter_map(|function| function.lanes).sum();
    let without = functions.iter().filter(|function| function.lanes.is_none()).count() as u32;
    let share = card.saturating_sub(given).checked_div(without).unwrap_or(0);
    if given > card || (without > 0 && share == 0) {
        let message = format!("the functions need more than the {card} lanes of the card; give it more, or them fewer");
        return Err(Issue::between(Code::TooFewSlots, &["nic.functions", "nic.pcie.lanes"], message));
    }
    // Slots and cards have 1, 2, 4, 8 or 16 lanes.
    let share = if share == 0 { 0 } else { 1 << share.ilog2() };
    Ok(functions.iter().map(|function| function.lanes.unwrap_or(share)).collect())
}
