//! What every request passes on its way to its endpoint, from the outside in.
//!
//! | layer | for |
//! |---|---|
//! | [`observe`] | a request id, a span, metrics |
//! | [`response_headers`] | how long an answer may be kept; HTTPS only |
//! | [`head`] | 400 for a head that can be read in several ways |
//! | [`compress`] | gzip and brotli for larger answers without secrets |
//! | [`cors`] | which routes pages of other origins may ask |
//! | [`guard`] | an answer in time, whatever happens inside: 503, 500 |
//! | [`identify`] | who asks; 429 for whoever guesses too often ([`look_ups`]) |
//! | [`limit`] | how much they may still ask: 429 |
//! | [`idempotency`] | the first answer again to a request that was repeated |
//! | [`envelope`] | closes the envelope of the answer |
//!
//! The last four are for the API only.

pub mod client;
pub mod compress;
pub mod cors;
pub mod envelope;
pub mod guard;
pub mod head;
pub mod idempotency;
pub mod identify;
mod kept_answer;
pub mod limit;
pub mod look_ups;
pub mod observe;
pub mod response_headers;
pub mod windows;
