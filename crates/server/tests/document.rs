//! The OpenAPI document as it is published: a change of it is a change of the API, and shows in the snapshot.

#![allow(clippy::unwrap_used, reason = "a test may fail so")]

use server::document::Document;

#[test]
fn the_published_document_is_the_one_that_was_reviewed() {
    let yaml = Document::new().yaml();
    insta::assert_snapshot!(std::str::from_utf8(&yaml).unwrap());
}
