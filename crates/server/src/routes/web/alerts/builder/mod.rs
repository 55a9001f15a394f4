//! The builder: a rule and a form that follow each other, for a new alert ([`create`]) and for one that exists ([`edit`]).
//!
//! `read_rule` is the rule that the form was filled from: while the typed rule is the same, the form counts, otherwise the rule. With
//! a rule or a form in the address the builder shows what they mean; nothing is stored.

pub(in crate::routes::web) mod check;
pub(in crate::routes::web) mod create;
pub(in crate::routes::web) mod edit;
mod form;
mod input;
mod read;
pub(in crate::routes::web) mod stored;
