//! The layers of every request, from the outermost to the innermost.
//!
//! | layer | purpose |
//! |---|---|
//! | [`observe`] | a request id, a span, metrics |
//! | [`response_headers`] | caching rules and HSTS |
//! | [`head`] | 400 for an ambiguous request head |
//! | [`compress`] | gzip and brotli for larger responses without secrets |
//! | [`cors`] | CORS for OAuth routes |
//! | [`guard`] | 503 after the time limit, 500 for panics |
//! | [`identify`] | authentication; 429 for too many unknown keys ([`crate::failed_auth`]) |
//! | [`rate_limit`] | rate limits: 429 |
//! | [`idempotency`] | the first response for repeated requests |
//! | [`envelope`] | completes the envelope of the response |
//!
//! The last four apply to the API only.

pub(crate) mod chain;
pub mod client;
pub(crate) mod compress;
pub(crate) mod cors;
pub(crate) mod envelope;
pub(crate) mod guard;
pub(crate) mod head;
pub(crate) mod idempotency;
pub(crate) mod identify;
pub(crate) mod observe;
pub(crate) mod rate_limit;
pub(crate) mod response_headers;
mod stored_response;
