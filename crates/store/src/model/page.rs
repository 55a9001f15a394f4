//! Paged lists.

use crate::StoreError;

/// A page of a list, as requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRequest {
    /// Page number, starting at 1.
    pub page: u32,
    /// Items per page, at least 1.
    pub limit: u32,
}

/// A page of a list, as requested: by its number, or after an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListRequest<Id> {
    /// Number and size of the page. The number counts only without `after`.
    pub page: PageRequest,
    /// The last item before the page. A page after an item is found at the same cost at any position.
    pub after: Option<Id>,
}

/// A page of a list.
#[derive(Clone, PartialEq, Debug)]
pub struct Page<T> {
    /// Items.
    pub items: Vec<T>,
    /// Number of items on all pages.
    pub total: u64,
}

/// Error of a paged list.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The list has no such item as [`ListRequest::after`].
    #[error("the list has no such item")]
    UnknownItem,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<sqlx::Error> for ListError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

impl<T> Page<T> {
    /// Converts the items.
    #[must_use]
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(convert).collect(),
            total: self.total,
        }
    }
}

impl PageRequest {
    /// Returns the number of items before the page.
    #[must_use]
    pub fn offset(&self) -> i64 {
        let offset = u64::from(self.page.saturating_sub(1)) * u64::from(self.limit);
        i64::try_from(offset).unwrap_or(i64::MAX)
    }
}

impl<Id> ListRequest<Id> {
    /// Returns the first page after an item.
    #[must_use]
    pub const fn following(after: Id, limit: u32) -> Self {
        Self {
            page: PageRequest { page: 1, limit },
            after: Some(after),
        }
    }

    /// Returns the number of items to read until the end of the page.
    pub(crate) fn rows_until_end(&self) -> i64 {
        let (limit, offset) = self.limit_and_offset();
        limit.saturating_add(offset)
    }

    /// Returns the maximum number of items, and the number of items to skip, for `LIMIT` and `OFFSET`.
    pub(crate) fn limit_and_offset(&self) -> (i64, i64) {
        let offset = if self.after.is_some() { 0 } else { self.page.offset() };
        (i64::from(self.page.limit), offset)
    }
}

impl<Id> From<ListRequest<Id>> for PageRequest {
    fn from(request: ListRequest<Id>) -> Self {
        request.page
    }
}

impl<Id> From<PageRequest> for ListRequest<Id> {
    fn from(page: PageRequest) -> Self {
        Self { page, after: None }
    }
}
