//! Paged lists.

/// A page of a list, as requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRequest {
    /// Page number, starting at 1.
    pub page: u32,
    /// Items per page, at least 1.
    pub limit: u32,
}

/// A page of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct Page<T> {
    /// Items.
    pub items: Vec<T>,
    /// Number of items on all pages.
    pub total: u64,
}

impl PageRequest {
    /// Returns the number of items before the page.
    #[must_use]
    pub fn offset(&self) -> i64 {
        let offset = u64::from(self.page.saturating_sub(1)) * u64::from(self.limit);
        i64::try_from(offset).unwrap_or(i64::MAX)
    }
}
