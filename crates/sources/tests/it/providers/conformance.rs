//! Conformance tests: behaviour that all adapters share.
//!
//! | test | expected result |
//! |---|---|
//! | `returns_documented_records` | the records, with each route requested once and the key in the documented header |
//! | `empty_response_has_no_records` | no records and no error |
//! | `follows_pages` | the records of all pages |
//! | `status_401_is_unauthorized` | `Unauthorized` after one request |
//! | `status_403_is_forbidden` | `Forbidden` after one request |
//! | `waits_for_retry_after_seconds` | waits exactly that long after 429, then the records |
//! | `waits_for_retry_after_date` | waits until that date after 429, then the records |
//! | `backs_off_without_retry_after` | waits longer after each of three 429, then the records |
//! | `rate_limited_after_all_attempts` | `RateLimited` after four requests |
//! | `too_long_a_retry_after_fails_at_once` | `RateLimited` with the wait, after one request |
//! | `retries_server_errors` | the records after three 5xx |
//! | `unavailable_after_all_attempts` | `Unavailable` after four requests |
//! | `truncated_body_fails_after_all_attempts` | `Truncated` after four requests |
//! | `retries_truncated_body` | the records after one truncated body |
//! | `refused_connection_is_unreachable` | `Unreachable` |
//! | `invalid_json_is_malformed` | `Malformed` after one request |
//! | `unexpected_json_type_is_malformed` | `Malformed` |
//! | `announced_oversize_body_is_too_large` | `TooLarge` after one request |
//! | `endless_body_is_too_large` | `TooLarge` after one request |
//! | `reports_unknown_symbols` | the unknown symbols, and the records of the others |
//! | `silent_server_times_out` | `TimedOut` after the timeout |
//! | `key_is_never_printed` | no key in errors and debug output |
//! | `measures_clock_skew` | the skew of the provider's clock |

use std::sync::Arc;

use jiff::SignedDuration;
use sources::provider::http::{AdapterSetup, RequestLimit};
use sources::provider::{DataResponse, Provider, ProviderError};

use crate::providers::support::case::{AdapterCase, lines, symbols};
use crate::providers::support::clock::TestClock;
use crate::providers::support::server::{StubResponse, StubServer};
use crate::providers::support::{KEY, setup};

/// An adapter case with its stub server and provider.
pub struct Fixture {
    case: AdapterCase,
    server: StubServer,
    clock: Arc<TestClock>,
    provider: Box<dyn Provider>,
}

impl Fixture {
    pub async fn new(case: AdapterCase) -> Self {
        let server = StubServer::start().await;
        let clock = TestClock::auto_advancing();
        let provider = (case.build)(&server.url, &setup(&clock));
        Self {
            case,
            server,
            clock,
            provider,
        }
    }

    fn add_routes(&self, routes: &[(&'static str, String)]) {
        for (route, body) in routes {
            self.server.route(route, body);
        }
    }

    async fn fetch(&self) -> Result<DataResponse, ProviderError> {
        self.provider.fetch(&self.case.request).await
    }

    /// Fetches after the failures `replies`, and expects the documented records.
    async fn recovers_from(&self, replies: Vec<StubResponse>) {
        let failures = replies.len();
        self.add_routes(&self.case.routes);
        self.server.first(replies);
        assert_eq!(lines(&self.fetch().await.unwrap()), self.case.expected);
        assert_eq!(self.server.requests(), self.case.routes.len() + failures);
    }

    /// Fetches while the server always sends `reply`. Returns the error and the number of requests.
    async fn fails_with(&self, reply: StubResponse) -> (ProviderError, usize) {
        self.server.first(std::iter::repeat_n(reply, 10));
        (self.fetch().await.unwrap_err(), self.server.requests())
    }
}

pub async fn returns_documented_records(fixture: Fixture) {
    fixture.add_routes(&fixture.case.routes);
    let response = fixture.fetch().await.unwrap();
    assert_eq!(lines(&response), fixture.case.expected);
    assert_eq!(
        (response.invalid_rows.count, &response.invalid_rows.first),
        (0, &Vec::new())
    );
    assert_eq!(response.unknown, []);
    assert_eq!(fixture.server.requests(), fixture.case.routes.len());
    for head in fixture.server.request_heads() {
        let wanted = fixture.case.header;
        assert!(
            head.to_lowercase().contains(&wanted.to_lowercase()),
            "no {wanted} in {head}"
        );
        assert!(!head.lines().next().unwrap().contains(KEY), "a key in a URL: {head}");
    }
}

pub async fn empty_response_has_no_records(fixture: Fixture) {
    fixture.add_routes(&fixture.case.empty_routes);
    let response = fixture.fetch().await.unwrap();
    assert_eq!((response.len(), response.invalid_rows.count), (0, 0));
}

pub async fn follows_pages(fixture: Fixture) {
    let Some((routes, expected)) = &fixture.case.pages else {
        // Without pages, one request returns all records.
        return returns_documented_records(fixture).await;
    };
    fixture.add_routes(routes);
    assert_eq!(lines(&fixture.fetch().await.unwrap()), *expected);
    assert_eq!(fixture.server.requests(), routes.len());
}

pub async fn status_401_is_unauthorized(fixture: Fixture) {
    let (error, requests) = fixture.fails_with(StubResponse::status(401)).await;
    assert!(matches!(error, ProviderError::Unauthorized { .. }), "{error:?}");
    assert_eq!(requests, 1);
}

pub async fn status_403_is_forbidden(fixture: Fixture) {
    let (error, requests) = fixture.fails_with(StubResponse::status(403)).await;
    assert!(matches!(error, ProviderError::Forbidden { .. }), "{error:?}");
    assert_eq!(requests, 1);
}

pub async fn waits_for_retry_after_seconds(fixture: Fixture) {
    fixture
        .recovers_from(vec![StubResponse::with_header(429, "Retry-After: 7")])
        .await;
    assert!(
        fixture.clock.waits().contains(&SignedDuration::from_secs(7)),
        "{:?}",
        fixture.clock.waits()
    );
}

pub async fn waits_for_retry_after_date(fixture: Fixture) {
    let date = "Retry-After: Fri, 08 Mar 2024 15:30:45 GMT";
    fixture.recovers_from(vec![StubResponse::with_header(429, date)]).await;
    assert!(
        fixture.clock.waits().contains(&SignedDuration::from_secs(45)),
        "{:?}",
        fixture.clock.waits()
    );
}

pub async fn backs_off_without_retry_after(fixture: Fixture) {
    fixture.recovers_from(vec![StubResponse::status(429); 3]).await;
    let waits = fixture.clock.waits();
    let total = waits.iter().fold(SignedDuration::ZERO, |sum, wait| sum + *wait);
    assert!(total >= SignedDuration::from_millis(250 + 500 + 1_000), "{waits:?}");
    // Where the rate limit permits the next request at once, each wait is a backoff delay.
    let is_slow = fixture
        .provider
        .tier()
        .request_limits
        .contains(&RequestLimit::per_second(1));
    let within = [(250, 500), (500, 1_000), (1_000, 2_000)];
    for (wait, (min, max)) in waits.iter().zip(within).filter(|_| !is_slow) {
        let within = SignedDuration::from_millis(min)..=SignedDuration::from_millis(max);
        assert!(within.contains(wait), "{waits:?}");
    }
}

pub async fn rate_limited_after_all_attempts(fixture: Fixture) {
    let (error, requests) = fixture.fails_with(StubResponse::status(429)).await;
    assert!(matches!(error, ProviderError::RateLimited { .. }), "{error:?}");
    assert_eq!(requests, 4);
}

pub async fn too_long_a_retry_after_fails_at_once(fixture: Fixture) {
    let (error, requests) = fixture
        .fails_with(StubResponse::with_header(429, "Retry-After: 3600"))
        .await;
    let ProviderError::RateLimited { retry_after, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!((retry_after.map(|wait| wait.as_secs()), requests), (Some(3_600), 1));
}

pub async fn retries_server_errors(fixture: Fixture) {
    fixture
        .recovers_from([500, 502, 503].map(StubResponse::status).into())
        .await;
}

pub async fn unavailable_after_all_attempts(fixture: Fixture) {
    let (error, requests) = fixture.fails_with(StubResponse::status(503)).await;
    assert!(
        matches!(error, ProviderError::Unavailable { status: 503, .. }),
        "{error:?}"
    );
    assert_eq!(requests, 4);
}

pub async fn truncated_body_fails_after_all_attempts(fixture: Fixture) {
    let whole = fixture.case.routes[0].1.clone();
    let cut = StubResponse::Truncated(whole.clone(), whole.len() / 2);
    let (error, requests) = fixture.fails_with(cut).await;
    assert!(matches!(error, ProviderError::Truncated { .. }), "{error:?}");
    assert_eq!(requests, 4);
}

pub async fn retries_truncated_body(fixture: Fixture) {
    let whole = fixture.case.routes[0].1.clone();
    fixture
        .recovers_from(vec![StubResponse::Truncated(whole.clone(), whole.len() / 2)])
        .await;
}

pub async fn refused_connection_is_unreachable(fixture: Fixture) {
    let port = testkit::RefusingPort::bind();
    let provider = (fixture.case.build)(&format!("http://{}", port.address()), &setup(&fixture.clock));
    let error = provider.fetch(&fixture.case.request).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unreachable { .. }), "{error:?}");
}

pub async fn invalid_json_is_malformed(fixture: Fixture) {
    for body in [
        "<html>maintenance</html>",
        "",
        &fixture.case.routes[0].1[..fixture.case.routes[0].1.len() / 2],
    ] {
        fixture.server.first([StubResponse::ok(body)]);
        let before = fixture.server.requests();
        let error = fixture.fetch().await.unwrap_err();
        assert!(matches!(error, ProviderError::Malformed { .. }), "{body}: {error:?}");
        assert_eq!(fixture.server.requests(), before + 1);
    }
}

pub async fn unexpected_json_type_is_malformed(fixture: Fixture) {
    for body in ["42", "\"text\"", "true"] {
        fixture.server.first([StubResponse::ok(body)]);
        let error = fixture.fetch().await.unwrap_err();
        assert!(matches!(error, ProviderError::Malformed { .. }), "{body}: {error:?}");
    }
}

pub async fn announced_oversize_body_is_too_large(fixture: Fixture) {
    let (error, requests) = fixture.fails_with(StubResponse::ok(" ".repeat(100_001))).await;
    assert!(
        matches!(
            error,
            ProviderError::TooLarge {
                limit_bytes: 100_000,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(requests, 1);
}

pub async fn endless_body_is_too_large(fixture: Fixture) {
    let (error, requests) = fixture.fails_with(StubResponse::Endless).await;
    assert!(matches!(error, ProviderError::TooLarge { .. }), "{error:?}");
    assert_eq!(requests, 1);
}

pub async fn reports_unknown_symbols(fixture: Fixture) {
    let Some(unknown) = &fixture.case.unknown else {
        // A request without symbols cannot have unknown ones.
        assert!(fixture.case.request.symbols().is_empty());
        return;
    };
    fixture.add_routes(&unknown.routes);
    let response = fixture.provider.fetch(&unknown.request).await.unwrap();
    assert_eq!(lines(&response), unknown.expected);
    assert_eq!(response.unknown, symbols(&unknown.unknown));
}

pub async fn silent_server_times_out(fixture: Fixture) {
    // Real time is paused, and jumps to the timeout as soon as all tasks are idle.
    tokio::time::pause();
    let setup = AdapterSetup {
        retry: sources::provider::http::RetryPolicy {
            max_attempts: 1,
            ..Default::default()
        },
        ..setup(&fixture.clock)
    };
    let provider = (fixture.case.build)(&fixture.server.url, &setup);
    fixture.server.first([StubResponse::Silence]);
    let error = provider.fetch(&fixture.case.request).await.unwrap_err();
    let ProviderError::TimedOut { timeout, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(timeout.as_secs(), 20);
}

pub async fn key_is_never_printed(fixture: Fixture) {
    let replies = [
        StubResponse::Whole(401, String::new(), format!(r#"{{"error":"bad key {KEY}"}}"#)),
        StubResponse::Whole(400, String::new(), format!(r#"{{"error":"bad key {KEY}"}}"#)),
        StubResponse::ok(format!("\"{KEY}\"")),
        StubResponse::ok(format!("{{\"{KEY}\": {{\"latestTrade\": 1}}}}")),
    ];
    let mut printed = format!("{:?}", fixture.provider);
    for reply in replies {
        fixture.server.first([reply]);
        if let Err(error) = fixture.fetch().await {
            printed += &format!("{error} {error:?}");
        }
    }
    assert!(!printed.contains(KEY), "{printed}");
}

pub async fn measures_clock_skew(fixture: Fixture) {
    assert_eq!(fixture.provider.clock_skew(), None);
    fixture.add_routes(&fixture.case.routes);
    fixture.fetch().await.unwrap();
    let waited = fixture
        .clock
        .waits()
        .into_iter()
        .fold(SignedDuration::ZERO, |sum, wait| sum + wait);
    assert_eq!(
        waited,
        SignedDuration::ZERO,
        "the documented requests fit the rate limit"
    );
    assert_eq!(fixture.provider.clock_skew(), Some(SignedDuration::from_secs(7)));
}

/// Defines the conformance tests of each case.
macro_rules! conformance {
    ($($name:ident: $case:expr;)*) => {$(
        mod $name {
            use super::*;

            crate::providers::conformance::conformance_tests! { $case;
                returns_documented_records
                empty_response_has_no_records
                follows_pages
                status_401_is_unauthorized
                status_403_is_forbidden
                waits_for_retry_after_seconds
                waits_for_retry_after_date
                backs_off_without_retry_after
                rate_limited_after_all_attempts
                too_long_a_retry_after_fails_at_once
                retries_server_errors
                unavailable_after_all_attempts
                truncated_body_fails_after_all_attempts
                retries_truncated_body
                refused_connection_is_unreachable
                invalid_json_is_malformed
                unexpected_json_type_is_malformed
                announced_oversize_body_is_too_large
                endless_body_is_too_large
                reports_unknown_symbols
                silent_server_times_out
                key_is_never_printed
                measures_clock_skew
            }
        }
    )*};
}

macro_rules! conformance_tests {
    ($case:expr; $($check:ident)*) => {$(
        #[tokio::test]
        async fn $check() {
            crate::providers::conformance::$check(crate::providers::conformance::Fixture::new($case).await).await;
        }
    )*};
}

pub(crate) use {conformance, conformance_tests};
