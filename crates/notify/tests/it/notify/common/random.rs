/// A deterministic random number generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Returns a number from 1 to `bound`.
    pub(crate) fn small(&mut self, bound: u64) -> usize {
        usize::try_from(self.below(bound)).unwrap() + 1
    }
}
