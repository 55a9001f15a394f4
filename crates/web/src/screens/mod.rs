//! The screens, one module each.

pub mod alert;
pub mod alerts;
pub mod approvals;
pub mod credentials;
pub mod oauth;
pub mod today;
