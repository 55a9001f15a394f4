//! The planned trade of a watchlist item.

use std::fmt;

use crate::named_enum;

named_enum! {
    /// The trade that the owner of a watchlist item plans.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    pub enum Intention {
        /// A purchase.
        Buy = "buy",
        /// A sale.
        Sell = "sell",
    }
}

impl fmt::Display for Intention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
