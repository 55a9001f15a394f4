//! The envelope of successful responses: `{success, data, meta: {rate_limit, pagination?}}`.
//!
//! A handler knows its data and its pagination, but not the caller's remaining rate limit. It returns an [`ApiResponse`],
//! which stores the data as a [`ResponseBody`] in the response's extensions. A layer then adds the envelope
//! ([`into_envelope`]).

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use service::{Page, PageRequest};
use utoipa::ToSchema;

use crate::entity_tag::EntityTag;
use crate::error::ApiError;

/// A successful response of a handler, still without its envelope.
#[derive(Debug)]
pub struct ApiResponse<T> {
    status: StatusCode,
    data: T,
    pagination: Option<Pagination>,
    notification_quota: Option<NotificationQuota>,
}

impl<T> ApiResponse<T> {
    /// Returns 200 with data.
    pub const fn ok(data: T) -> Self {
        Self::with(StatusCode::OK, data)
    }

    /// Returns the given status with data.
    pub const fn with(status: StatusCode, data: T) -> Self {
        Self {
            status,
            data,
            pagination: None,
            notification_quota: None,
        }
    }

    /// Adds the account's remaining message quota.
    pub const fn with_notification_quota(mut self, quota: Option<NotificationQuota>) -> Self {
        self.notification_quota = quota;
        self
    }
}

impl<T> ApiResponse<Vec<T>> {
    /// Returns 200 with one page of a list.
    pub fn page(list: ListPage<T>) -> Self {
        Self {
            pagination: Some(list.pagination),
            ..Self::ok(list.items)
        }
    }
}

/// One page of a list.
#[derive(Debug, Serialize)]
pub struct ListPage<T> {
    pub(crate) items: Vec<T>,
    pub(crate) pagination: Pagination,
}

impl<T> ListPage<T> {
    /// Creates a page from rows, each converted by `view`.
    pub(crate) fn of<R>(page: Page<R>, request: impl Into<PageRequest>, view: impl FnMut(R) -> T) -> Self {
        Self {
            pagination: Pagination::of(request.into(), page.total),
            items: page.items.into_iter().map(view).collect(),
        }
    }
}

/// The serialized data of a response that has no envelope yet.
#[derive(Clone, Debug)]
pub struct ResponseBody {
    data: Bytes,
    pagination: Option<Pagination>,
    notification_quota: Option<NotificationQuota>,
}

impl ResponseBody {
    fn is_list(&self) -> bool {
        self.data.first() == Some(&b'[')
    }

    /// Returns the entity tag of data and pagination. The rate limit differs in every response and does not count.
    pub(crate) fn entity_tag(&self) -> Option<EntityTag> {
        let pagination = alerts::json::to_vec(&self.pagination).ok()?;
        Some(EntityTag::of(&[&self.data, &pagination]))
    }
}

impl<T: Serialize> IntoResponse for ApiResponse<T> {
    fn into_response(self) -> Response {
        match alerts::json::to_vec(&self.data) {
            Ok(data) => {
                let mut response = self.status.into_response();
                response.extensions_mut().insert(ResponseBody {
                    data: data.into(),
                    pagination: self.pagination,
                    notification_quota: self.notification_quota,
                });
                response
            }
            Err(error) => ApiError::internal(error).into_response(),
        }
    }
}

/// Position of a page in its list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct Pagination {
    /// Page number, starting at 1.
    #[schema(minimum = 1, example = 1)]
    pub page: u32,
    /// Items per page: the requested limit, capped at the maximum.
    #[schema(minimum = 1, example = 10)]
    pub limit: u32,
    /// Total number of items on all pages.
    #[schema(minimum = 0, example = 1)]
    pub total: u64,
    /// Total number of pages.
    #[schema(minimum = 0, example = 1)]
    pub total_pages: u64,
}

impl Pagination {
    /// Creates the pagination of a requested page and the total number of items.
    pub(crate) fn of(request: PageRequest, total: u64) -> Self {
        Self {
            page: request.page,
            limit: request.limit,
            total,
            total_pages: total.div_ceil(u64::from(request.limit.max(1))),
        }
    }
}

/// The caller's remaining rate limit for this group of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct RateLimit {
    /// Requests allowed per window.
    #[schema(minimum = 0, example = 100)]
    pub limit: u32,
    /// Requests left in the current window.
    #[schema(minimum = 0, example = 99)]
    pub remaining: u32,
    /// End of the window, in milliseconds since the Unix epoch.
    #[schema(minimum = 0, example = 1_767_369_600_000_i64)]
    pub reset: i64,
}

/// The account's remaining monthly message quota.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct NotificationQuota {
    /// Message channel: `sms`.
    #[schema(example = "sms")]
    pub channel: &'static str,
    /// Messages allowed per month.
    #[schema(minimum = 0, example = 50)]
    pub limit: u32,
    /// Messages left this month. At 0, alerts are sent by email instead.
    #[schema(minimum = 0, example = 47)]
    pub remaining: u64,
    /// End of the month, in milliseconds since the Unix epoch.
    #[schema(minimum = 0, example = 1_767_225_600_000_i64)]
    pub reset: i64,
}

impl NotificationQuota {
    pub(crate) fn of_sms(quota: accounts::identity::account::SmsQuota) -> Self {
        Self {
            channel: "sms",
            limit: quota.limit,
            remaining: quota.remaining(),
            reset: quota.period.end.as_millisecond(),
        }
    }
}

/// Metadata of a response.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Meta {
    /// The caller's remaining rate limit.
    pub rate_limit: RateLimit,
    /// Position of the page in its list. Only present for paginated lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub pagination: Option<Pagination>,
    /// Remaining text messages this month. Only present when an alert with `sms` is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notification_quota: Option<NotificationQuota>,
}

/// The envelope as described in the OpenAPI document.
#[derive(Debug, Serialize, ToSchema)]
pub struct Envelope<T> {
    /// Always `true`.
    pub success: bool,
    /// The requested data.
    pub data: T,
    /// Metadata of the response.
    pub meta: Meta,
}

/// Adds the envelope to the response of a GET request with these headers. A list also gets an entity tag, and the response is
/// 304 if `If-None-Match` names that tag. Responses without a [`ResponseBody`] stay as they are.
#[must_use]
pub fn into_conditional_envelope(response: Response, rate_limit: RateLimit, request: &HeaderMap) -> Response {
    let list = response
        .extensions()
        .get::<ResponseBody>()
        .filter(|body| body.is_list());
    let Some(tag) = list
        .filter(|_| response.status() == StatusCode::OK)
        .and_then(ResponseBody::entity_tag)
    else {
        return into_envelope(response, rate_limit);
    };
    tag.respond(request, || into_envelope(response, rate_limit))
}

/// Adds the envelope to a response. Responses without a [`ResponseBody`] stay as they are.
#[must_use]
pub fn into_envelope(mut response: Response, rate_limit: RateLimit) -> Response {
    let Some(content) = response.extensions_mut().remove::<ResponseBody>() else {
        return response;
    };
    let meta = Meta {
        rate_limit,
        pagination: content.pagination,
        notification_quota: content.notification_quota,
    };
    let meta = match alerts::json::to_vec(&meta) {
        Ok(meta) => meta,
        Err(error) => return ApiError::internal(error).into_response(),
    };
    let mut body = Vec::with_capacity(content.data.len() + meta.len() + 48);
    body.extend_from_slice(br#"{"success":true,"data":"#);
    body.extend_from_slice(&content.data);
    body.extend_from_slice(br#","meta":"#);
    body.extend_from_slice(&meta);
    body.push(b'}');
    *response.body_mut() = Body::from(body);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn envelope_contains_data_rate_limit_and_pagination() {
        let rate_limit = RateLimit {
            limit: 100,
            remaining: 99,
            reset: 5,
        };
        let page = Page {
            items: vec![json!({"threshold": 200.0})],
            total: 21,
        };
        let request = PageRequest { page: 2, limit: 10 };
        let response = ApiResponse::page(ListPage::of(page, request, |item| item));
        let wrapped = into_envelope(response.into_response(), rate_limit);
        assert_eq!(wrapped.headers()["content-type"], "application/json");
        let body = to_bytes(wrapped.into_body(), 1_000).await.unwrap();
        let expected = concat!(
            r#"{"success":true,"data":[{"threshold":200}],"meta":{"rate_limit":{"limit":100,"remaining":99,"reset":5},"#,
            r#""pagination":{"page":2,"limit":10,"total":21,"total_pages":3}}}"#
        );
        assert_eq!(body, expected);
    }
}
