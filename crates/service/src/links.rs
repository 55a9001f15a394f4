//! Links into this service, as mails have them.

use url::form_urlencoded::Serializer;

use crate::start::Inner;

impl Inner {
    /// The address of a page of this service: `https://alerts.example.com/confirm?token=...`.
    pub(crate) fn link(&self, page: &str, query: &[(&str, &str)]) -> String {
        link(&self.settings.public_url, page, query)
    }
}

/// The address of a page of the service at that address.
pub(crate) fn link(public_url: &str, page: &str, query: &[(&str, &str)]) -> String {
    let base = public_url.trim_end_matches('/');
    let query = Serializer::new(String::new()).extend_pairs(query).finish();
    if query.is_empty() {
        format!("{base}/{page}")
    } else {
        format!("{base}/{page}?{query}")
    }
}
