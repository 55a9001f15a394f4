//! Pagination parameters.

use axum::extract::FromRequestParts;
use http::request::Parts;
use service::PageRequest;
use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::Query;
use crate::error::ApiError;
use crate::state::App;

/// The format of `u64` in the document.
const INT64: SchemaFormat = SchemaFormat::KnownFormat(KnownFormat::Int64);

/// The largest page number. The next number stands for all larger ones.
const MAX_PAGE: u32 = u32::MAX - 1;

/// Extractor: `page` and `limit` of a list, with the default and the maximum of `limit`.
#[derive(Clone, Copy, Debug)]
pub struct PageParams<const DEFAULT_LIMIT: u32, const MAX_LIMIT: u32>(pub PageRequest);

impl<const DEFAULT_LIMIT: u32, const MAX_LIMIT: u32> PageParams<DEFAULT_LIMIT, MAX_LIMIT> {
    /// Reads `page` and `limit`. A limit above the maximum is clamped.
    pub(crate) fn read(query: &mut Query) -> PageRequest {
        let page = query.count("page").unwrap_or(1);
        if page > MAX_PAGE {
            query.reject("page", "must be a whole number below 4294967295");
        }
        let limit = query.limit(DEFAULT_LIMIT, MAX_LIMIT);
        PageRequest { page, limit }
    }
}

impl<const DEFAULT_LIMIT: u32, const MAX_LIMIT: u32> FromRequestParts<App> for PageParams<DEFAULT_LIMIT, MAX_LIMIT> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ApiError> {
        let mut query = Query::from_uri(&parts.uri);
        let request = Self::read(&mut query);
        query.finish().map(|()| Self(request))
    }
}

impl<const DEFAULT_LIMIT: u32, const MAX_LIMIT: u32> IntoParams for PageParams<DEFAULT_LIMIT, MAX_LIMIT> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let parameter = |name: &str, description: String, schema: ObjectBuilder| {
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
        vec![
            parameter(
                "page",
                "Page number, starting at 1.".to_owned(),
                from_1(1).maximum(Some(MAX_PAGE)),
            ),
            parameter("limit", clamped, from_1(DEFAULT_LIMIT)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let mut reader = Query::from_uri(&format!("/?{query}").parse().unwrap());
            let page = PageParams::<10, 100>::read(&mut reader);
            let read = match reader.errors.keys().next() {
                None => Ok((page.page, page.limit)),
                Some(field) => Err(field.as_str()),
            };
            assert_eq!(read, expected, "{query}");
        }
    }
}
