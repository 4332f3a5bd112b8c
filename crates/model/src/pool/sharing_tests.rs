//! Tests of the directory and of servers that share pages, over a network that loses, duplicates and reorders
//! messages.

use super::directory::{Directory, Order};
use super::rights::{PageOrder, PageRights};
use crate::line::{PoolKind, PoolMessage};
use crate::params::SharedRegionParams;
use hostnet_kernel::Time;
use proptest::prelude::*;

const PAGES: u64 = 2;
/// First page of the region. It differs from 0, so that the directory must tell two regions apart.
const FIRST: u64 = 7;
const DECIDES: u16 = 99;

/// Next action. Indices are taken modulo the number of hosts or messages.
#[derive(Clone, Copy, Debug)]
enum TestAction {
    /// A host accesses a page, for writing if the flag is set.
    Want(usize, u64, bool),
    /// An access to a page ends at a host.
    End(usize, u64),
    /// A message in flight arrives.
    Arrive(usize),
    /// A message arrives, and a copy stays in flight.
    Repeat(usize),
    Lose(usize),
    /// A host repeats its outstanding requests.
    AskAgain(usize),
}

fn act() -> impl Strategy<Value = TestAction> {
    prop_oneof![
        4 => (any::<usize>(), 0..PAGES, any::<bool>())
            .prop_map(|(host, page, write)| TestAction::Want(host, page, write)),
        3 => (any::<usize>(), 0..PAGES).prop_map(|(host, page)| TestAction::End(host, page)),
        8 => any::<usize>().prop_map(TestAction::Arrive),
        1 => any::<usize>().prop_map(TestAction::Repeat),
        1 => any::<usize>().prop_map(TestAction::Lose),
        2 => any::<usize>().prop_map(TestAction::AskAgain),
    ]
}

/// Host: its rights, and the accesses that wait.
struct Host {
    number: u16,
    rights: PageRights<PoolMessage>,
    waits: Vec<(u64, bool)>,
}

/// Directory, hosts, and messages in flight with sender and receiver.
struct World {
    directory: Directory,
    hosts: Vec<Host>,
    wire: Vec<(u16, u16, PoolMessage)>,
}

impl World {
    fn new(hosts: u16) -> Self {
        let members: Vec<u16> = (0..hosts).map(|number| 3 * number).collect();
        let regions = vec![
            SharedRegionParams { first_page: 0, members: vec![1, 2] },
            SharedRegionParams { first_page: FIRST, members: members.clone() },
        ];
        let host = |number| Host { number, rights: PageRights::new(), waits: Vec::new() };
        Self { directory: Directory::new(regions), hosts: members.into_iter().map(host).collect(), wire: Vec::new() }
    }

    fn ask(&mut self, at: usize, place: u32) {
        let host = &self.hosts[at];
        let Some(ask) = host.rights.asked(place) else { return };
        let kind = if ask.writes { PoolKind::Own } else { PoolKind::Share };
        let line = FIRST + ask.page;
        let (requester, slot, sequence) = (host.number, place, ask.sequence);
        let message = PoolMessage { kind, requester, small_bytes: 84, slot, sequence, line, round: 0 };
        self.wire.push((host.number, DECIDES, message));
    }

    /// Begins an access to a page, or waits for the page.
    fn want(&mut self, at: usize, page: u64, writes: bool) {
        let host = &mut self.hosts[at];
        if host.rights.has(page, writes) {
            return host.rights.begin(page);
        }
        host.waits.push((page, writes));
        if let Some(place) = host.rights.want(page, writes, Time::ZERO) {
            self.ask(at, place);
        }
    }

    fn end(&mut self, at: usize, page: u64) {
        if self.hosts[at].rights.open(page) > 0 {
            self.hosts[at].rights.end(page);
            self.leave(at, page);
        }
    }

    fn leave(&mut self, at: usize, page: u64) {
        let host = &mut self.hosts[at];
        if let Some(PageOrder { answer, .. }) = host.rights.may_leave(page) {
            host.rights.left(page);
            self.wire.push((host.number, DECIDES, answer));
            self.serve(at, page);
        }
    }

    /// Restarts the accesses that wait for a page.
    fn serve(&mut self, at: usize, page: u64) {
        let (now, later): (Vec<_>, Vec<_>) = self.hosts[at].waits.drain(..).partition(|&(of, _)| of == page);
        self.hosts[at].waits = later;
        now.into_iter().for_each(|(page, writes)| self.want(at, page, writes));
    }

    fn arrive(&mut self, (from, to, message): (u16, u16, PoolMessage)) {
        if to == DECIDES {
            let mut orders: Vec<Order> = Vec::new();
            self.directory.on_message(from, &message, &mut orders);
            self.wire.extend(orders.into_iter().map(|(to, message)| (DECIDES, to, message)));
            return;
        }
        let at = self.hosts.iter().position(|host| host.number == to).expect("a member");
        let page = message.line - FIRST;
        if message.kind == PoolKind::Granted {
            let granted = self.hosts[at].rights.granted(message.slot, message.sequence);
            if granted.is_some() && !self.hosts[at].rights.is_leaving(page) {
                self.serve(at, page);
            }
            return;
        }
        let keeps = message.kind == PoolKind::Demote;
        let answer = PoolMessage { kind: PoolKind::Left, ..message };
        if let Some(place) = self.hosts[at].rights.leave(page, PageOrder { keeps, round: message.round, answer }) {
            self.ask(at, place);
        }
        self.leave(at, page);
    }

    fn act(&mut self, act: TestAction) {
        let hosts = self.hosts.len();
        let pick = |of: usize, len: usize| (len > 0).then(|| of % len);
        match act {
            TestAction::Want(at, page, writes) => self.want(at % hosts, page, writes),
            TestAction::End(at, page) => self.end(at % hosts, page),
            TestAction::Arrive(of) => {
                if let Some(at) = pick(of, self.wire.len()) {
                    let message = self.wire.remove(at);
                    self.arrive(message);
                }
            }
            TestAction::Repeat(of) => {
                if let Some(at) = pick(of, self.wire.len()) {
                    self.arrive(self.wire[at]);
                }
            }
            TestAction::Lose(of) => {
                if let Some(at) = pick(of, self.wire.len()) {
                    self.wire.remove(at);
                }
            }
            TestAction::AskAgain(at) => (0..2 * PAGES as u32).for_each(|place| self.ask(at % hosts, place)),
        }
    }

    /// Checks that a page has one writer or any number of readers, and that no host has a right that the directory
    /// does not record.
    fn check(&self) -> Result<(), TestCaseError> {
        for page in 0..PAGES {
            let uses = |host: &Host| host.rights.has(page, false) || host.rights.open(page) > 0;
            for writer in self.hosts.iter().filter(|host| host.rights.has(page, true)) {
                let others = self.hosts.iter().filter(|host| host.number != writer.number && uses(host)).count();
                prop_assert_eq!(others, 0, "beside {} of page {}", writer.number, page);
            }
            for host in &self.hosts {
                let (reads, writes) = self.directory.known(FIRST + page, host.number);
                prop_assert!(reads || !uses(host), "{} uses page {}", host.number, page);
                prop_assert!(writes || !host.rights.has(page, true), "{} may write page {}", host.number, page);
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn one_writes_a_page_or_any_number_read_it(
        hosts in 2_u16..6,
        acts in prop::collection::vec(act(), 0..400),
    ) {
        let mut world = World::new(hosts);
        for act in acts {
            world.act(act);
            world.check()?;
        }
        // Without further losses, all waiting accesses are served.
        for _ in 0..100 {
            (0..hosts as usize).for_each(|at| world.act(TestAction::AskAgain(at)));
            let mut messages = 0;
            while !world.wire.is_empty() {
                world.act(TestAction::Arrive(0));
                world.check()?;
                messages += 1;
                prop_assert!(messages < 10_000, "messages answer each other for ever");
            }
            for at in 0..hosts as usize {
                (0..PAGES).for_each(|page| while world.hosts[at].rights.open(page) > 0 { world.end(at, page) });
            }
        }
        prop_assert!(world.hosts.iter().all(|host| host.waits.is_empty()), "somebody waits for ever");
    }
}

#[test]
fn as_many_are_told_as_have_the_page() {
    let mut world = World::new(4);
    world.want(0, 0, true);
    world.arrive(world.wire[0]);
    let told: Vec<u16> = world.wire[1..].iter().map(|&(_, to, _)| to).collect();
    assert_eq!(told, [3, 6, 9], "those that read it");
    while let Some(message) = (!world.wire.is_empty()).then(|| world.wire.remove(0)) {
        world.arrive(message);
    }
    assert!(world.hosts[0].rights.has(0, true) && world.hosts[0].rights.open(0) == 1);
    let before = world.directory.told;
    world.want(0, 0, true);
    assert_eq!((world.wire.len(), world.directory.told), (0, before), "who writes a page asks nobody again");
    world.end(0, 0);
    world.end(0, 0);
    world.want(1, 0, false);
    while let Some(message) = (!world.wire.is_empty()).then(|| world.wire.remove(0)) {
        world.arrive(message);
    }
    assert!(world.hosts[0].rights.has(0, false) && !world.hosts[0].rights.has(0, true), "it reads on");
    assert_eq!(world.directory.told, before + 1);
}
