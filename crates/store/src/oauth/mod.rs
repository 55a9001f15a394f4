//! # What people allow programs (OAuth)
//!
//! Programs that have registered themselves ([`clients`]); grants, each what one account's owner has allowed one program
//! ([`grants`]); the codes and tokens that stand for them ([`codes`], [`tokens`]), as hashes only. What is over is forgotten
//! ([`forget`]).
//!
//! A grant is a family. Whatever of it is shown, it is the grant that says whether it is still good, so ending the grant ends
//! all that ever came of it, also what another process gives out in that moment. Using up a code or a refresh token is one
//! `UPDATE` that finds it unused or does not: of any number at once one succeeds, and the others end the grant.

mod clients;
mod codes;
mod forget;
mod grants;
mod tokens;
