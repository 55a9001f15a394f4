//! Links to pages of this service, for messages.

use url::form_urlencoded::Serializer;

/// Returns the URL of a page.
pub fn link(public_url: &str, page: &str, query: &[(&str, &str)]) -> String {
    let base = public_url.trim_end_matches('/');
    let query = Serializer::new(String::new()).extend_pairs(query).finish();
    if query.is_empty() {
        format!("{base}/{page}")
    } else {
        format!("{base}/{page}?{query}")
    }
}
