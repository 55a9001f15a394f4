//! Conformance tests of all adapters against local servers that replay the providers' documented payloads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unreachable_pub, reason = "the modules of a test program are private")]

mod adapters;
mod conformance;
mod history;
mod price_requests;
mod routing;
mod stream_conformance;
mod support;
