//! Lists, page by page.

/// Which page of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRequest {
    /// 1 is the first.
    pub page: u32,
    /// How many a page has, 1 or more.
    pub limit: u32,
}

/// A page of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// How many there are on all pages together.
    pub total: u64,
}

impl PageRequest {
    /// How many items come before the page.
    #[must_use]
    pub fn offset(&self) -> i64 {
        let offset = u64::from(self.page.saturating_sub(1)) * u64::from(self.limit);
        i64::try_from(offset).unwrap_or(i64::MAX)
    }
}
