//! The state of the service, for operators. For others these addresses do not exist.

pub(super) mod jobs;
pub(super) mod show;
