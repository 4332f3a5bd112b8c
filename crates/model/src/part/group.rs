//! Groups of pools: their names in reports, and the credits that they share.

use crate::pool_groups;
use hostnet_measure::{Domain, Usage};

/// Classes that the domains of the CHA keep per workload: one for its cores, and one for its devices.
pub const CHA_CLASSES_PER_WORKLOAD: usize = 2;

/// Defines the groups in the order of the reports: the name of each, the pool `with` which it shares its credits, and
/// the number of classes that its domains keep `per` workload.
macro_rules! groups {
    ($($(#[$doc:meta])* $group:ident $name:literal $(with $pool:ident)? $(per $classes_per_workload:ident)?,)*) => {
        /// Group of pools: one of the domains of a machine, or the queue of a hop. In the order of the reports.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum PoolGroup {
            $($(#[$doc])* $group,)*
        }

        impl PoolGroup {
            /// Every group, in the order of the reports.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$group),*];

            /// Returns the name of the group in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$group => $name,)*
                }
            }

            /// Returns the pool with which the group shares its credits, if any.
            #[must_use]
            pub fn pool(self) -> Option<Self> {
                match self {
                    $($(Self::$group => Some(Self::$pool),)?)*
                    _ => None,
                }
            }

            /// Returns the number of classes that the domains of the group keep per workload.
            fn classes_per_workload(self) -> usize {
                match self {
                    $($(Self::$group => $classes_per_workload,)?)*
                    _ => 1,
                }
            }
        }
    };
}

pool_groups!(groups);

impl PoolGroup {
    /// Returns the statistics that the workload `class`, or every workload if `None`, has in `domain`, a domain of
    /// this group.
    pub fn usages(self, domain: &Domain, class: Option<usize>) -> impl Iterator<Item = &Usage> {
        let usages = domain.classes().iter().enumerate();
        usages
            .filter(move |(domain_class, _)| {
                class.is_none_or(|class| class == domain_class / self.classes_per_workload())
            })
            .map(|(_, usage)| usage)
    }

    /// Returns the name of the pool with which the group shares its credits, or an empty string if there is none.
    #[must_use]
    pub fn shares_with(self) -> &'static str {
        self.pool().map_or("", Self::name)
    }
}
