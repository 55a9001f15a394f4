//! The feed of firings.

pub(super) mod acknowledge;
pub(super) mod list;
pub(super) mod rearm;
pub(super) mod seen;
