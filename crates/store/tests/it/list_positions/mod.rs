//! Lists that are read page by page behind the last item, while items are added and removed, are compared with a naive model.

mod deliveries_and_outbox;
mod feedback_and_trades;
mod history;

use std::fmt::Debug;

use store::model::{AccountId, ListError, ListRequest, Page, PageRequest};

const OWNER: AccountId = AccountId(uuid::Uuid::from_u128(1));
const OTHER: AccountId = AccountId(uuid::Uuid::from_u128(2));

/// Compares a list with all its items in their order: by numbered pages, and behind each item.
pub(super) async fn check<T: Debug + PartialEq, Id: Copy>(
    expected: &[T],
    read: impl AsyncFn(ListRequest<Id>) -> Page<T>,
    id: impl Fn(&T) -> Id,
) {
    let total = u64::try_from(expected.len()).unwrap();
    for limit in [1, 3, 200] {
        let (mut numbered, mut behind) = (Vec::new(), Vec::new());
        for page in 1.. {
            let request = PageRequest { page, limit };
            let found = read(request.into()).await;
            assert_eq!(found.total, total);
            if found.items.is_empty() {
                break;
            }
            numbered.extend(found.items);
        }
        let mut request = ListRequest::from(PageRequest { page: 1, limit });
        loop {
            let found = read(request).await;
            assert_eq!(found.total, total);
            let Some(last) = found.items.last() else { break };
            request = ListRequest::following(id(last), limit);
            behind.extend(found.items);
        }
        assert_eq!(numbered, expected, "by number, limit {limit}");
        assert_eq!(behind, expected, "behind items, limit {limit}");
    }
}

/// Reads a list behind the last item of each page, and changes it between the pages. The items that are there all the time must be
/// found once, in their order.
pub(super) async fn check_while_it_changes<Id: Copy + Debug + PartialEq>(
    stable: &[Id],
    read: impl AsyncFn(ListRequest<Id>) -> Vec<Id>,
    mut change: impl AsyncFnMut(),
) {
    let mut request = ListRequest::from(PageRequest { page: 1, limit: 2 });
    let mut found = Vec::new();
    loop {
        let page = read(request).await;
        let Some(last) = page.last() else { break };
        request = ListRequest::following(*last, 2);
        found.extend(page);
        change().await;
    }
    found.retain(|id| stable.contains(id));
    assert_eq!(found, stable);
}

pub(super) fn assert_unknown<T: Debug>(found: Result<T, ListError>) {
    assert!(matches!(found, Err(ListError::UnknownItem)), "{found:?}");
}
