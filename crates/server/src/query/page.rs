//! Pagination parameters.

use service::PageRequest;

use super::Query;

/// The largest page number. The next number stands for all larger ones.
pub(super) const MAX_PAGE: u32 = u32::MAX - 1;

impl Query {
    /// Reads `page` and `limit`. A limit above the maximum is clamped.
    pub(crate) fn page(&mut self, default_limit: u32, max_limit: u32) -> PageRequest {
        let page = self.count("page").unwrap_or(1);
        if page > MAX_PAGE {
            self.reject("page", "must be a whole number below 4294967295");
        }
        let limit = self.limit(default_limit, max_limit);
        PageRequest { page, limit }
    }
}
