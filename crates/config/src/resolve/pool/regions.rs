//! Pages that several servers share: regions, their page controllers, and the directories of switches.

use super::member::{pool_of, Member};
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{
    HostKind, HostParams, PageControllerParams, SharedPagesParams, SharedRegionParams, SharerDirectoryParams,
    SwitchParams,
};

/// Default number of shared pages that a switch keeps track of.
const SHARERS: u64 = 4096;

fn key(member: &Member, key: &str) -> String {
    format!("{}.pool.{key}", member.table)
}

/// Returns the first server with the same region, if that is an earlier server than `member`.
pub(super) fn earlier<'a, 'b>(members: &'b [Member<'a>], member: &Member) -> Option<&'b Member<'a>> {
    let region = member.spec.region.as_ref()?;
    members.iter().take_while(|other| other.host < member.host).find(|other| other.spec.region.as_ref() == Some(region))
}

/// Checks the regions of servers.
pub(super) fn check(members: &[Member]) -> Result<(), Issue> {
    for member in members.iter().filter(|member| member.spec.region.is_some()) {
        if member.spec.region.as_deref() == Some("") {
            let message = "is empty; give the region a name, or take the key away";
            return Err(Issue::new(Code::MalformedValue, key(member, "region"), message));
        }
        if member.spec.borrow.0 == 0 {
            let message = "the server borrows nothing that it could share; give it the size of the region";
            return Err(Issue::between(Code::RequiresKey, &[&key(member, "region"), &key(member, "borrow")], message));
        }
        let Some(first) = earlier(members, member) else { continue };
        let differs =
            [("borrow", first.spec.borrow != member.spec.borrow), ("from", first.spec.from != member.spec.from)];
        if let Some((name, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            let message = "the servers of a region see the same pages of the same lenders";
            return Err(Issue::between(
                Code::MustAgree,
                &[&key(member, name), &key(first, name), &key(member, "region")],
                message,
            ));
        }
    }
    check_controller(members)
}

fn check_controller(members: &[Member]) -> Result<(), Issue> {
    let mut controllers = members.iter().filter(|member| member.spec.controller);
    match (controllers.next(), controllers.next(), members.iter().find(|member| member.spec.region.is_some())) {
        (None, _, Some(sharer)) => {
            let message = "nobody decides who may write its pages; give a server that does not share them \
                           pool.controller = true";
            Err(Issue::new(Code::RequiresKey, key(sharer, "region"), message))
        }
        (Some(one), Some(other), _) => {
            let message = "a pool has one controller";
            Err(Issue::between(Code::Duplicate, &[&key(other, "controller"), &key(one, "controller")], message))
        }
        (Some(one), None, _) if one.spec.region.is_some() => {
            let message = "the controller does not share pages itself; take another server";
            Err(Issue::between(Code::ConflictingKeys, &[&key(one, "controller"), &key(one, "region")], message))
        }
        _ => Ok(()),
    }
}

/// Numbers the shared pages, and sets the numbers at the sharers and at the controller.
pub(super) fn resolve(members: &[Member], hosts: &mut [HostParams]) {
    let Some(controller) = members.iter().find(|member| member.spec.controller) else { return };
    let mut regions: Vec<SharedRegionParams> = Vec::new();
    let mut next = 0;
    for first in members.iter().filter(|member| member.spec.region.is_some() && earlier(members, member).is_none()) {
        let of_region = members.iter().filter(|member| member.spec.region == first.spec.region);
        let shared = SharedPagesParams { first_page: next, controller: controller.host as u16 };
        let all: Vec<u16> = of_region.map(|member| member.host as u16).collect();
        all.iter().for_each(|&host| pool_of(hosts, host.into()).shared = Some(shared));
        regions.push(SharedRegionParams { first_page: next, members: all });
        next += first.spec.borrow.0 / first.spec.page.0;
    }
    let message_ps = controller.spec.controller_time.0;
    let given = (!regions.is_empty()).then_some(PageControllerParams { regions, message_ps });
    pool_of(hosts, controller.host).controller = given;
}

/// Sets the shared pages of the directory of the switch, if there is exactly one switch. Several switches get none.
pub(in crate::resolve) fn tell_switches(hosts: &[HostParams], switches: &mut [SwitchParams]) -> Result<(), Issue> {
    let regions = hosts.iter().find_map(|host| {
        let HostKind::Server(server) = &host.kind else { return None };
        Some(&server.socket().pool.as_ref()?.controller.as_ref()?.regions)
    });
    let given = switches.iter().position(|switch| switch.sharers.as_ref().is_some_and(|sharers| sharers.pages > 0));
    if let (Some(at), Some(_), true) = (given, regions, switches.len() > 1) {
        let message = "of several switches none decides about shared pages, as messages may take several ways; \
                       take the key away";
        let own = format!("switch.{}.sharers", switches[at].name);
        return Err(Issue::between(Code::NotSupported, &[&own, "network.switch.sharers", "switch"], message));
    }
    let alone = switches.len() == 1;
    for switch in switches {
        let pages = switch.sharers.take().map_or(SHARERS, |sharers| sharers.pages);
        let of = regions.filter(|_| alone && pages > 0);
        switch.sharers = of.map(|regions| SharerDirectoryParams { regions: regions.clone(), pages });
    }
    Ok(())
}

/// Checks that the switches between the servers of a pool know the ports of these servers.
pub(in crate::resolve) fn check_switches(members: &[Member], switches: &[SwitchParams]) -> Result<(), Issue> {
    let learns = switches.iter().any(|switch| switch.learning.is_some());
    match members.first().filter(|_| learns) {
        Some(first) => {
            let message = "messages of a pool need switches that know where servers are, and one of them learns it";
            Err(Issue::between(Code::NotSupported, &[&format!("{}.pool", first.table), "switch"], message))
        }
        None => Ok(()),
    }
}
