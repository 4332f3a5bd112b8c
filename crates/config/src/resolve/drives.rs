//! The drives of servers with `ssd.sockets`, which assigns them to sockets.

use super::cache::check_off;
use super::io::check_lanes;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{DriveSockets, Spec};

/// Assigns each socket its drives, and its part of the PCIe lanes and of the list of drives without DDIO. Without
/// `ssd.sockets`, every socket has the drives of its own table.
pub(super) fn place(spec: &Spec, sockets: &mut [Spec]) -> Result<(), Issue> {
    check_tables(spec)?;
    let Some(places) = &spec.ssd.sockets else { return Ok(()) };
    let counts = counts(places, spec.ssd.count, sockets.len())?;
    let mut first = 0;
    for (socket, count) in sockets.iter_mut().zip(counts) {
        // Checked before the drives are divided, so that messages count them as the user does.
        check_lanes(socket)?;
        check_off(&socket.ddio, socket.ssd.count)?;
        if count > 0 {
            // Each socket gets lanes in proportion to its drives.
            socket.pcie.lanes = socket.pcie.lanes * count / socket.ssd.count;
        }
        let own = first..first + count;
        socket.ddio.off.0.retain(|drive| own.contains(drive));
        socket.ddio.off.0.iter_mut().for_each(|drive| *drive -= first);
        socket.ssd.count = count;
        first = own.end;
    }
    Ok(())
}

/// Checks that tables of sockets have no key that applies to all drives of the server.
fn check_tables(spec: &Spec) -> Result<(), Issue> {
    for (name, own) in &spec.socket {
        let path = |key: &str| format!("socket.{name}.ssd.{key}");
        let (ssd, all) = (&own.ssd, &spec.ssd);
        let of_all = [("sockets", ssd.sockets != all.sockets), ("mode", ssd.mode != all.mode)];
        if let Some((key, _)) = of_all.iter().find(|(_, differs)| *differs) {
            let message = format!("is of all drives of the server; give ssd.{key} alone");
            return Err(Issue::between(Code::MisplacedKey, &[&path(key), &format!("ssd.{key}")], message));
        }
        if all.sockets.is_some() && ssd.count != all.count {
            let message = "ssd.sockets says how many drives each socket has; leave one of the two out";
            return Err(Issue::between(Code::ConflictingKeys, &[&path("count"), "ssd.sockets"], message));
        }
    }
    Ok(())
}

/// Returns the number of drives of each socket.
fn counts(places: &DriveSockets, drives: u32, sockets: usize) -> Result<Vec<u32>, Issue> {
    let mut counts = vec![0; sockets];
    let mut add = |socket: u8, drives: u32, path: &str| match counts.get_mut(usize::from(socket)) {
        Some(count) => {
            *count += drives;
            Ok(())
        }
        None => {
            let message = format!("there is no socket {socket}; server.sockets = {sockets} means 0 to {}", sockets - 1);
            Err(Issue::between(Code::DoesNotExist, &[path, "server.sockets"], message))
        }
    };
    match places {
        DriveSockets::All(socket) => add(*socket, drives, "ssd.sockets")?,
        DriveSockets::Each(list) => {
            check_list(list, drives)?;
            for (at, &socket) in list.iter().enumerate() {
                add(socket, 1, &format!("ssd.sockets[{at}]"))?;
            }
        }
    }
    Ok(counts)
}

fn check_list(list: &[u8], drives: u32) -> Result<(), Issue> {
    if list.len() as u32 != drives {
        let message = format!("{} sockets for ssd.count = {drives}; give one number for all, or one each", list.len());
        return Err(Issue::between(Code::WrongCount, &["ssd.sockets", "ssd.count"], message));
    }
    match (1..list.len()).find(|&at| list[at] < list[at - 1]) {
        Some(at) => {
            let message = format!(
                "socket {} after {}; drives are numbered through the sockets, so those of the lowest come first",
                list[at],
                list[at - 1]
            );
            Err(Issue::new(Code::WrongOrder, format!("ssd.sockets[{at}]"), message))
        }
        None => Ok(()),
    }
}
