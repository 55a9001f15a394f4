//! The watchlist.

pub(super) mod add;
pub(super) mod alert;
pub(super) mod change;
pub(super) mod proposals;
pub(super) mod show;
