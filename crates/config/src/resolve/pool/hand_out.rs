//! Assigns the pages of a pool to servers.

use super::member::{pool_of, Member};
use super::regions;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{HostParams, LenderParams};

/// Maximum number of servers of a pool, which a one-byte address distinguishes.
const SERVERS_MAX: usize = 256;

/// Assigns the pages of the pool: each borrower gets an equal number from each of its lenders, in the order of the
/// hosts.
pub(in crate::resolve) fn hand_out(members: &[Member], hosts: &mut [HostParams]) -> Result<(), Issue> {
    let Some(first) = members.first() else { return Ok(()) };
    let key = |member: &Member, key: &str| format!("{}.pool{key}", member.table);
    if members.len() > SERVERS_MAX {
        let message =
            format!("{} servers are in the pool; addresses of one byte tell {SERVERS_MAX} apart", members.len());
        return Err(Issue::new(Code::TooMany, key(first, ""), message));
    }
    if let Some(other) = members.iter().find(|member| member.spec.page != first.spec.page) {
        let message = "a pool has pages of one size";
        return Err(Issue::between(Code::MustAgree, &[&key(first, ".page"), &key(other, ".page")], message));
    }
    regions::check(members)?;
    let page_bytes = first.spec.page.0;
    let mut taken = vec![0; members.len()];
    for borrower in members.iter().filter(|member| member.spec.borrow.0 > 0) {
        if let Some(other) = regions::earlier(members, borrower) {
            // Servers of a region share its pages, so they have the lenders of its first server.
            pool_of(hosts, borrower.host).lenders = pool_of(hosts, other.host).lenders.clone();
            continue;
        }
        let lenders = lenders(borrower, members, hosts)?;
        // Pages go round robin over the lenders, so each lends the same number, rounded up.
        let each = (borrower.spec.borrow.0 / page_bytes).div_ceil(lenders.len() as u64);
        let mut given = Vec::new();
        for number in lenders {
            let lender = &members[number];
            if (taken[number] + each) * page_bytes > lender.spec.lent.0 {
                let message = format!(
                    "{} lends {}, and {} more would be borrowed",
                    hosts[lender.host].name,
                    format(lender.spec.lent.0, Dimension::Size),
                    format((taken[number] + each) * page_bytes - lender.spec.lent.0, Dimension::Size)
                );
                return Err(Issue::between(
                    Code::OutOfMemorySpace,
                    &[&key(borrower, ".borrow"), &key(lender, ".lent")],
                    message,
                ));
            }
            given.push(LenderParams { host: lender.host as u16, first_page: taken[number] });
            taken[number] += each;
        }
        pool_of(hosts, borrower.host).lenders = given;
    }
    regions::resolve(members, hosts);
    Ok(())
}

/// Returns the members that a borrower borrows from.
fn lenders(borrower: &Member, members: &[Member], hosts: &[HostParams]) -> Result<Vec<usize>, Issue> {
    let shares = |member: &Member| borrower.spec.region.is_some() && member.spec.region == borrower.spec.region;
    let lends = |member: &Member| member.spec.lent.0 > 0 && member.host != borrower.host && !shares(member);
    let Some(names) = &borrower.spec.from else {
        let all: Vec<usize> = (0..members.len()).filter(|&number| lends(&members[number])).collect();
        if all.is_empty() {
            let message = match &borrower.spec.region {
                Some(_) => "no server without its region lends anything to the pool; give one of those pool.lent",
                None => "no other server lends anything to the pool; give one of them pool.lent",
            };
            return Err(Issue::new(Code::RequiresKey, format!("{}.pool.borrow", borrower.table), message));
        }
        return Ok(all);
    };
    let path = format!("{}.pool.from", borrower.table);
    let of_name = |name: &String| {
        let found = (0..members.len()).find(|&number| hosts[members[number].host].name == *name);
        found.filter(|&number| lends(&members[number])).ok_or_else(|| {
            let known = members.iter().filter(|member| lends(member)).map(|member| hosts[member.host].name.as_str());
            let of_region = if borrower.spec.region.is_some() { " without sharing the region" } else { "" };
            let message = format!(
                "{} is no other host that lends to the pool{of_region}; {}",
                crate::units::shorten(name),
                crate::error::suggestion(name, known)
            );
            Issue::new(Code::DoesNotExist, path.clone(), message)
        })
    };
    names.iter().map(of_name).collect()
}
