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

pub mod client;
pub mod compress;
pub mod cors;
pub mod envelope;
pub mod guard;
pub mod head;
pub mod idempotency;
pub mod identify;
pub mod observe;
pub mod rate_limit;
pub mod response_headers;
mod stored_response;
