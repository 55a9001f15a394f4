//! # OAuth
//!
//! Registered clients ([`clients`]); grants, each from one account's owner to one client ([`grants`]); authorization
//! codes and tokens ([`codes`], [`tokens`]), stored as hashes only. Expired data is purged ([`purge`]).
//!
//! The grant decides whether its codes and tokens are valid. So ending the grant invalidates all of them, including
//! those that another process issues at the same moment. Using a code or a refresh token is one `UPDATE` that
//! requires it to be unused: of concurrent uses one succeeds, and the others end the grant.

mod clients;
mod codes;
mod grants;
mod purge;
mod tokens;
