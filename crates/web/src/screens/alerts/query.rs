//! The filters and the order of a list of alerts, as an address has them.

use alerts::{ConditionKind, Status};
use url::form_urlencoded::Serializer;

/// The order of a list of alerts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AlertOrder {
    /// The newest first.
    #[default]
    Created,
    /// The nearest to firing first.
    Distance,
    /// By symbol.
    Symbol,
    /// The last fired first.
    Fired,
}

impl AlertOrder {
    /// All orders.
    pub const ALL: [Self; 4] = [Self::Created, Self::Distance, Self::Symbol, Self::Fired];

    /// Returns the name in an address.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Distance => "distance",
            Self::Symbol => "symbol",
            Self::Fired => "fired",
        }
    }

    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Created => "sort-created",
            Self::Distance => "sort-distance",
            Self::Symbol => "sort-symbol",
            Self::Fired => "sort-fired",
        }
    }
}

/// The filters of the list, as the address has them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlertListQuery {
    /// The status.
    pub status: Option<Status>,
    /// The condition.
    pub condition: Option<ConditionKind>,
    /// The symbol.
    pub symbol: String,
    /// A tag.
    pub tag: String,
    /// A part of a symbol or of a company's name.
    pub search: String,
    /// The order.
    pub sort: AlertOrder,
}

impl AlertListQuery {
    /// Returns the path and query of a page of the list.
    #[must_use]
    pub fn address(&self, page: u32) -> String {
        format!("/alerts{}", self.parameters(page))
    }

    /// Returns the query of a page of the list with its question mark, without parameters that have their defaults.
    pub(super) fn parameters(&self, page: u32) -> String {
        let page = (page > 1).then(|| page.to_string());
        let sort = (self.sort != AlertOrder::default()).then(|| self.sort.name());
        let parameters = [
            ("status", self.status.map(Status::name)),
            ("condition", self.condition.map(ConditionKind::name)),
            ("symbol", Some(self.symbol.as_str())),
            ("tag", Some(self.tag.as_str())),
            ("search", Some(self.search.as_str())),
            ("sort", sort),
            ("page", page.as_deref()),
        ];
        let mut query = Serializer::new(String::new());
        for (name, value) in parameters {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                query.append_pair(name, value);
            }
        }
        let query = query.finish();
        let separator = if query.is_empty() { "" } else { "?" };
        format!("{separator}{query}")
    }

    /// Returns whether a filter is set.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        let all = Self {
            sort: self.sort,
            ..Self::default()
        };
        *self != all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_only_the_filters_that_are_set() {
        assert_eq!(AlertListQuery::default().address(1), "/alerts");
        let query = AlertListQuery {
            status: Some(Status::Paused),
            search: "a & b".to_owned(),
            sort: AlertOrder::Distance,
            ..AlertListQuery::default()
        };
        assert_eq!(
            query.address(2),
            "/alerts?status=paused&search=a+%26+b&sort=distance&page=2"
        );
    }

    #[test]
    fn order_alone_is_no_filter() {
        let sorted = AlertListQuery {
            sort: AlertOrder::Symbol,
            ..AlertListQuery::default()
        };
        assert!(!sorted.is_filtered());
        let tagged = AlertListQuery {
            tag: "swing".to_owned(),
            ..AlertListQuery::default()
        };
        assert!(tagged.is_filtered());
    }
}
