use super::Step;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Generator {
    pub base: u64,
    pub bytes: u64,
    pub n: u64,
}
impl Generator {
    pub fn step(&mut self, rng: &mut Rng) -> Step {
        self.n += 1;
        Step {
            address: self.base + rng.below(self.bytes / 64) * 64,
            instructions: 5,
            store: false,
            depends: false,
            begins: true,
            ends: true,
        }
    }
}
