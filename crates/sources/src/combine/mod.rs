//! # Several providers as one
//!
//! For each capability there is a *primary* and there are *fallbacks*. [`Combination::fetch`] asks the first that is not left
//! alone; who fails is left alone for a while, longer each time, and comes back by itself ([`Standing`]). What the primary does not
//! know, the next one is asked about.
//!
//! [`plan()`] says in numbers what a plan of a provider's is enough for: how many requests a round over all symbols takes, how
//! often that can be done, and how old a quote gets meanwhile. [`check()`] asks everything once and tells how it went.

mod chain;
mod check;
mod plan;
mod standing;
mod table;

pub use chain::{Combination, Fetched, NoAnswer, Tried};
pub use check::{CheckRow, Checked, Newest, check, check_table};
pub use plan::{Line, Plan, Polling, plan};
pub use standing::Standing;
