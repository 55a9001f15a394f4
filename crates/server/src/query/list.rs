//! The parameters of paged lists: `page` or `after`, and `limit`.

use alerts::AlertId;
use axum::extract::FromRequestParts;
use delivery::messages::MessageId;
use delivery::webhooks::DeliveryId;
use http::request::Parts;
use market::Symbol;
use service::feedback::FeedbackId;
use service::firings::EventId;
use service::{HistoryPosition, ListRequest, PageRequest};
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Object, Required};
use watchlist::PaperTradeId;

use super::ids::{UUID_ERROR, uuid};
use super::page::MAX_PAGE;
use super::{Query, SYMBOL_ERROR, ids};
use crate::error::ApiError;
use crate::state::App;

/// The format of `u64` in the document.
const INT64: SchemaFormat = SchemaFormat::KnownFormat(KnownFormat::Int64);

/// The id of an item of a list, after which a page can begin.
pub trait ListItemId: Copy {
    /// The name of the id in an item.
    const NAME: &'static str = "id";
    /// The item, in the singular.
    const ITEM: &'static str;
    /// The message for a text that is no such id.
    const ERROR: &'static str = UUID_ERROR;

    /// Parses an id.
    fn parse(text: &str) -> Option<Self>;

    /// Returns the schema of an id.
    fn schema() -> Object {
        let uuid = SchemaFormat::KnownFormat(KnownFormat::Uuid);
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(uuid))
            .build()
    }
}

macro_rules! uuids_of_items {
    ($($id:ident $item:literal;)*) => {$(
        impl ListItemId for $id {
            const ITEM: &'static str = $item;

            fn parse(text: &str) -> Option<Self> {
                uuid(text).map(Self)
            }
        }
    )*};
}

uuids_of_items! {
    AlertId "alert";
    DeliveryId "delivery";
    EventId "firing";
    FeedbackId "entry";
    MessageId "message";
    PaperTradeId "trade";
}

impl ListItemId for HistoryPosition {
    const NAME: &'static str = "position";
    const ITEM: &'static str = "entry";
    const ERROR: &'static str = ids::HISTORY_POSITION_ERROR;

    fn parse(text: &str) -> Option<Self> {
        ids::history_position(text)
    }

    fn schema() -> Object {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(ids::HISTORY_POSITION_PATTERN))
            .build()
    }
}

impl ListItemId for Symbol {
    const NAME: &'static str = "symbol";
    const ITEM: &'static str = "stock";
    const ERROR: &'static str = SYMBOL_ERROR;

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn schema() -> Object {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some("^[A-Za-z0-9.-]{1,10}$"))
            .build()
    }
}

/// Extractor: `page` or `after`, and `limit` of a list, with the default and the maximum of `limit`.
#[derive(Clone, Copy, Debug)]
pub struct ListParams<Id, const DEFAULT_LIMIT: u32, const MAX_LIMIT: u32>(pub ListRequest<Id>);

impl<Id: ListItemId, const DEFAULT_LIMIT: u32, const MAX_LIMIT: u32> ListParams<Id, DEFAULT_LIMIT, MAX_LIMIT> {
    /// Reads `page` or `after`, and `limit`. A limit above the maximum is clamped.
    pub(crate) fn read(query: &mut Query) -> ListRequest<Id> {
        let has_page = query.has("page");
        let page = query.page(DEFAULT_LIMIT, MAX_LIMIT);
        let Some(text) = query.value("after") else {
            return page.into();
        };
        let after = Id::parse(text);
        if after.is_none() {
            query.reject("after", Id::ERROR);
        }
        if has_page {
            query.reject("page", "must be omitted together with after");
        }
        ListRequest {
            page: PageRequest { page: 1, ..page },
            after,
        }
    }
}

impl<Id: ListItemId, const DEFAULT_LIMIT: u32, const MAX_LIMIT: u32> FromRequestParts<App>
    for ListParams<Id, DEFAULT_LIMIT, MAX_LIMIT>
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ApiError> {
        let mut query = Query::from_uri(&parts.uri);
        let request = Self::read(&mut query);
        query.finish().map(|()| Self(request))
    }
}

impl<Id: ListItemId, const DEFAULT_LIMIT: u32, const MAX_LIMIT: u32> IntoParams
    for ListParams<Id, DEFAULT_LIMIT, MAX_LIMIT>
{
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let parameter = |name: &str, description: String, schema: Object| {
            ParameterBuilder::new()
                .name(name)
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(Some(description))
                .schema(Some(schema))
                .build()
        };
        let from_1 = |default: u32| {
            let integer = ObjectBuilder::new().schema_type(Type::Integer).format(Some(INT64));
            integer.minimum(Some(1)).default(Some(default.into()))
        };
        let clamped = format!("Items per page. Values above {MAX_LIMIT} are clamped to {MAX_LIMIT}.");
        let item = Id::ITEM;
        let after = format!(
            "The {} of an item in this list: the page begins after that {item}. To read a whole list, pass the last {item} of each \
             page; unlike `page`, this finds each page at the same cost and misses no {item} if others are created or deleted \
             meanwhile. `page` in the response is 1.",
            Id::NAME
        );
        vec![
            parameter(
                "page",
                "Page number, starting at 1.".to_owned(),
                from_1(1).maximum(Some(MAX_PAGE)).build(),
            ),
            parameter("limit", clamped, from_1(DEFAULT_LIMIT).build()),
            parameter("after", after, Id::schema()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Params = ListParams<HistoryPosition, 10, 100>;

    fn read(query: &str) -> Result<(u32, u32, Option<i64>), Vec<String>> {
        let mut reader = Query::from_uri(&format!("/?{query}").parse().unwrap());
        let ListRequest { page, after } = Params::read(&mut reader);
        if reader.errors.is_empty() {
            Ok((page.page, page.limit, after.map(|id| id.0)))
        } else {
            Err(reader.errors.into_keys().collect())
        }
    }

    #[test]
    fn limit_above_maximum_is_clamped_and_below_one_is_refused() {
        for (query, expected) in [
            ("", Ok((1, 10))),
            ("page=3&limit=100", Ok((3, 100))),
            ("limit=101", Ok((1, 100))),
            ("limit=99999999999999999999999", Ok((1, 100))),
            ("page=4294967294", Ok((4_294_967_294, 10))),
            ("page=99999999999999999999999", Err("page")),
            ("limit=0", Err("limit")),
            ("limit=-1", Err("limit")),
            ("limit=ten", Err("limit")),
            ("limit=1.5", Err("limit")),
            ("limit=", Err("limit")),
            ("page=0", Err("page")),
            ("page=+1", Err("page")),
        ] {
            let expected = expected.map(|(page, limit)| (page, limit, None));
            assert_eq!(read(query), expected.map_err(|field| vec![field.to_owned()]), "{query}");
        }
    }

    #[test]
    fn page_begins_after_an_item_or_has_a_number() {
        for (query, expected) in [
            ("after=7", Ok((1, 10, Some(7)))),
            ("after=7&limit=3", Ok((1, 3, Some(7)))),
            ("after=9223372036854775807", Ok((1, 10, Some(i64::MAX)))),
            ("after=9223372036854775808", Err("after")),
            ("after=", Err("after")),
            ("after=0", Err("after")),
            ("after=-7", Err("after")),
            ("after=+7", Err("after")),
            ("after=07", Err("after")),
            ("after=7&page=1", Err("page")),
        ] {
            assert_eq!(read(query), expected.map_err(|field| vec![field.to_owned()]), "{query}");
        }
        assert_eq!(
            read("after=x&page=1&limit=0"),
            Err(["after", "limit", "page"].map(str::to_owned).to_vec())
        );
        let mut reader = Query::from_uri(&"/?after=0b9c7c2e8f0e4d5e9a523f1f6f0c8d11".parse().unwrap());
        assert_eq!(ListParams::<AlertId, 10, 100>::read(&mut reader).after, None);
        assert!(reader.errors.contains_key("after"));
    }
}
