//! The envelope of answers that went well: `{success, data, meta: {rate_limit, pagination?}}`.
//!
//! A handler knows its data and its page, but not what is left of the caller's rate limit. So it answers with a
//! [`Reply`], which carries the data as a [`Draft`], and a layer closes the envelope ([`seal`]).

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

use crate::entity_tag::EntityTag;
use crate::error::ApiError;

/// What a handler answers when all went well.
#[derive(Debug)]
pub struct Reply<T> {
    status: StatusCode,
    data: T,
    pagination: Option<Pagination>,
    notification_quota: Option<NotificationQuota>,
}

impl<T> Reply<T> {
    /// 200 with data.
    pub const fn ok(data: T) -> Self {
        Self::with(StatusCode::OK, data)
    }

    /// Another status with data.
    pub const fn with(status: StatusCode, data: T) -> Self {
        Self {
            status,
            data,
            pagination: None,
            notification_quota: None,
        }
    }

    /// The same answer with what is left of a quota of messages.
    pub const fn with_notification_quota(mut self, quota: Option<NotificationQuota>) -> Self {
        self.notification_quota = quota;
        self
    }

    /// 200 with a page of a list.
    pub const fn page(data: T, pagination: Pagination) -> Self {
        Self {
            status: StatusCode::OK,
            data,
            pagination: Some(pagination),
            notification_quota: None,
        }
    }
}

/// The data of an answer whose envelope is still open.
#[derive(Clone, Debug)]
pub struct Draft {
    data: Bytes,
    pagination: Option<Pagination>,
    notification_quota: Option<NotificationQuota>,
}

impl Draft {
    fn is_list(&self) -> bool {
        self.data.first() == Some(&b'[')
    }

    /// The tag of what does not change from answer to answer.
    fn entity_tag(&self) -> Option<EntityTag> {
        let pagination = alerts::json::to_vec(&self.pagination).ok()?;
        Some(EntityTag::of(&[&self.data, &pagination]))
    }
}

impl<T: Serialize> IntoResponse for Reply<T> {
    fn into_response(self) -> Response {
        match alerts::json::to_vec(&self.data) {
            Ok(data) => {
                let mut response = self.status.into_response();
                response.extensions_mut().insert(Draft {
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

/// Where a page is in its list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct Pagination {
    /// The page, from 1.
    #[schema(minimum = 1, example = 1)]
    pub page: u32,
    /// How many a page has: what was asked for, cut to the maximum.
    #[schema(minimum = 1, example = 10)]
    pub limit: u32,
    /// How many there are on all pages together.
    #[schema(minimum = 0, example = 1)]
    pub total: u64,
    /// How many pages there are.
    #[schema(minimum = 0, example = 1)]
    pub total_pages: u64,
}

impl Pagination {
    /// Of a page and the number of all there are.
    #[must_use]
    pub fn of(request: service::PageRequest, total: u64) -> Self {
        Self {
            page: request.page,
            limit: request.limit,
            total,
            total_pages: total.div_ceil(u64::from(request.limit.max(1))),
        }
    }
}

/// What is left of the caller's rate limit in this group of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct RateLimit {
    /// Requests in a window.
    #[schema(minimum = 0, example = 100)]
    pub limit: u32,
    /// How many of them are left.
    #[schema(minimum = 0, example = 99)]
    pub remaining: u32,
    /// When the window ends, in milliseconds since 1970.
    #[schema(minimum = 0, example = 1_767_369_600_000_i64)]
    pub reset: i64,
}

/// What is left of the messages that the account's plan has in a month.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct NotificationQuota {
    /// How the messages go: `sms`.
    #[schema(example = "sms")]
    pub channel: &'static str,
    /// Messages in a month.
    #[schema(minimum = 0, example = 50)]
    pub limit: u32,
    /// How many of them are left; when none is, alerts come by mail.
    #[schema(minimum = 0, example = 47)]
    pub remaining: u64,
    /// When the month ends, in milliseconds since 1970.
    #[schema(minimum = 0, example = 1_767_225_600_000_i64)]
    pub reset: i64,
}

impl NotificationQuota {
    /// Of an account's text messages.
    #[must_use]
    pub fn of_sms(quota: service::identity::account::SmsQuota) -> Self {
        Self {
            channel: "sms",
            limit: quota.limit,
            remaining: quota.remaining(),
            reset: quota.period.end.as_millisecond(),
        }
    }
}

/// What an answer says beside its data.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Meta {
    /// What is left of the caller's rate limit.
    pub rate_limit: RateLimit,
    /// Where the page is in its list; only with lists that have pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub pagination: Option<Pagination>,
    /// What is left of the month's text messages; only when an alert by `sms` is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub notification_quota: Option<NotificationQuota>,
}

/// The envelope as the OpenAPI document describes it.
#[derive(Debug, Serialize, ToSchema)]
pub struct Envelope<T> {
    /// Always `true`.
    pub success: bool,
    /// What was asked for.
    pub data: T,
    /// What there is to say beside it.
    pub meta: Meta,
}

/// Closes the envelope of an answer to a GET with these headers, if it has one that is open. A list gets an entity tag, and is
/// answered 304 if the request has it already.
#[must_use]
pub fn seal_read(response: Response, rate_limit: RateLimit, request: &HeaderMap) -> Response {
    let list = response.extensions().get::<Draft>().filter(|draft| draft.is_list());
    let Some(tag) = list
        .filter(|_| response.status() == StatusCode::OK)
        .and_then(Draft::entity_tag)
    else {
        return seal(response, rate_limit);
    };
    tag.answer(request, || seal(response, rate_limit))
}

/// Closes the envelope of an answer, if it has one that is open.
#[must_use]
pub fn seal(mut response: Response, rate_limit: RateLimit) -> Response {
    let Some(draft) = response.extensions_mut().remove::<Draft>() else {
        return response;
    };
    let meta = Meta {
        rate_limit,
        pagination: draft.pagination,
        notification_quota: draft.notification_quota,
    };
    let meta = match alerts::json::to_vec(&meta) {
        Ok(meta) => meta,
        Err(error) => return ApiError::internal(error).into_response(),
    };
    let mut body = Vec::with_capacity(draft.data.len() + meta.len() + 48);
    body.extend_from_slice(br#"{"success":true,"data":"#);
    body.extend_from_slice(&draft.data);
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
    async fn an_envelope_holds_data_rate_limit_and_page() {
        let rate_limit = RateLimit {
            limit: 100,
            remaining: 99,
            reset: 5,
        };
        let page = service::PageRequest { page: 2, limit: 10 };
        let reply = Reply::page(json!([{"threshold": 200.0}]), Pagination::of(page, 21));
        let sealed = seal(reply.into_response(), rate_limit);
        assert_eq!(sealed.headers()["content-type"], "application/json");
        let body = to_bytes(sealed.into_body(), 1_000).await.unwrap();
        let expected = concat!(
            r#"{"success":true,"data":[{"threshold":200}],"meta":{"rate_limit":{"limit":100,"remaining":99,"reset":5},"#,
            r#""pagination":{"page":2,"limit":10,"total":21,"total_pages":3}}}"#
        );
        assert_eq!(body, expected);
    }
}
