//! The screens of alerts.

pub(super) mod actions;
pub(super) mod builder;
pub(super) mod export;
pub(super) mod list;
pub(super) mod show;
pub(super) mod undo;
