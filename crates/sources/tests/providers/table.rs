//! # The table: what every adapter does in the same way
//!
//! | no. | case | what it must come to |
//! |---|---|---|
//! | 1 | the documented answer | the records it means, each place asked once, with the key where it belongs |
//! | 2 | nothing to tell | no records, no error |
//! | 3 | a second page | both pages' records |
//! | 4 | 401 | `Unauthorized`, asked once |
//! | 5 | 403 | `Forbidden`, asked once |
//! | 6 | 429 with `Retry-After` in seconds | waits just so long, then the records |
//! | 7 | 429 with `Retry-After` as a date | waits until then, then the records |
//! | 8 | 429 without, three times | waits longer each time, then the records |
//! | 9 | 429 for good | `RateLimited`, asked four times |
//! | 10 | `Retry-After` beyond all patience | `RateLimited` with it, asked once |
//! | 11 | 5xx, then an answer | the records |
//! | 12 | 5xx for good | `Unavailable` |
//! | 13 | a connection cut in the body | asked again; `Cut` for good |
//! | 14 | nobody there | `Unreachable` |
//! | 15 | a body that is no JSON, or is cut off | `Malformed`, asked once |
//! | 16 | a body of another shape | `Malformed` |
//! | 17 | a body announced too large | `TooLarge`, asked once |
//! | 18 | a body that goes on and on | `TooLarge` |
//! | 19 | a symbol it does not know | named as unknown; the others' records come |
//! | 20 | silence | `TimedOut` at the deadline |
//! | 21 | any error, and the adapter itself, printed | no key |
//! | 22 | the provider's clock is ahead | the skew is known |

use std::sync::Arc;

use jiff::SignedDuration;
use sources::provider::http::{Quota, Setup};
use sources::provider::{Answer, Provider, ProviderError};

use crate::support::clock::TestClock;
use crate::support::server::{Reply, Server};
use crate::support::subject::{Subject, lines, symbols};
use crate::support::{KEY, setup};

/// A subject on its stage.
pub struct Case {
    subject: Subject,
    server: Server,
    clock: Arc<TestClock>,
    provider: Box<dyn Provider>,
}

impl Case {
    pub async fn new(subject: Subject) -> Self {
        let server = Server::start().await;
        let clock = TestClock::hurried();
        let provider = (subject.build)(&server.url, &setup(&clock));
        Self {
            subject,
            server,
            clock,
            provider,
        }
    }

    fn play(&self, places: &[(&'static str, String)]) {
        for (place, body) in places {
            self.server.route(place, body);
        }
    }

    async fn ask(&self) -> Result<Answer, ProviderError> {
        self.provider.fetch(&self.subject.ask).await
    }

    /// The records that the happy path means, after `replies`.
    async fn recovers_from(&self, replies: Vec<Reply>) {
        let failures = replies.len();
        self.play(&self.subject.happy);
        self.server.first(replies);
        assert_eq!(lines(&self.ask().await.unwrap()), self.subject.means);
        assert_eq!(self.server.requests(), self.subject.happy.len() + failures);
    }

    /// The error that `reply` comes to, however often it is given, and how often it was asked for.
    async fn fails_with(&self, reply: Reply) -> (ProviderError, usize) {
        self.server.first(std::iter::repeat_n(reply, 10));
        (self.ask().await.unwrap_err(), self.server.requests())
    }
}

pub async fn the_documented_answer(case: Case) {
    case.play(&case.subject.happy);
    let answer = case.ask().await.unwrap();
    assert_eq!(lines(&answer), case.subject.means);
    assert_eq!((answer.faults.count, &answer.faults.first), (0, &Vec::new()));
    assert_eq!(answer.unknown, []);
    assert_eq!(case.server.requests(), case.subject.happy.len());
    for head in case.server.heads() {
        let wanted = case.subject.header;
        assert!(
            head.to_lowercase().contains(&wanted.to_lowercase()),
            "no {wanted} in {head}"
        );
        assert!(
            !head.lines().next().unwrap().contains(KEY),
            "a key in an address: {head}"
        );
    }
}

pub async fn nothing_to_tell(case: Case) {
    case.play(&case.subject.empty);
    let answer = case.ask().await.unwrap();
    assert_eq!((answer.len(), answer.faults.count), (0, 0));
}

pub async fn a_second_page(case: Case) {
    let Some((places, means)) = &case.subject.pages else {
        // Without pages, one request tells everything.
        return the_documented_answer(case).await;
    };
    case.play(places);
    assert_eq!(lines(&case.ask().await.unwrap()), *means);
    assert_eq!(case.server.requests(), places.len());
}

pub async fn a_key_that_is_wrong(case: Case) {
    let (error, asked) = case.fails_with(Reply::status(401)).await;
    assert!(matches!(error, ProviderError::Unauthorized { .. }), "{error:?}");
    assert_eq!(asked, 1);
}

pub async fn a_plan_that_is_too_small(case: Case) {
    let (error, asked) = case.fails_with(Reply::status(403)).await;
    assert!(matches!(error, ProviderError::Forbidden { .. }), "{error:?}");
    assert_eq!(asked, 1);
}

pub async fn too_often_for_so_many_seconds(case: Case) {
    case.recovers_from(vec![Reply::with_header(429, "Retry-After: 7")])
        .await;
    assert!(
        case.clock.waits().contains(&SignedDuration::from_secs(7)),
        "{:?}",
        case.clock.waits()
    );
}

pub async fn too_often_until_a_date(case: Case) {
    let date = "Retry-After: Fri, 08 Mar 2024 15:30:45 GMT";
    case.recovers_from(vec![Reply::with_header(429, date)]).await;
    assert!(
        case.clock.waits().contains(&SignedDuration::from_secs(45)),
        "{:?}",
        case.clock.waits()
    );
}

pub async fn too_often_without_a_word(case: Case) {
    case.recovers_from(vec![Reply::status(429); 3]).await;
    let waits = case.clock.waits();
    let total = waits.iter().fold(SignedDuration::ZERO, |sum, wait| sum + *wait);
    assert!(total >= SignedDuration::from_millis(250 + 500 + 1_000), "{waits:?}");
    // Where the budget lets the next request through at once, each wait is a backoff.
    let is_slow = case.provider.tier().quotas.contains(&Quota::per_second(1));
    let within = [(250, 500), (500, 1_000), (1_000, 2_000)];
    for (wait, (least, most)) in waits.iter().zip(within).filter(|_| !is_slow) {
        let within = SignedDuration::from_millis(least)..=SignedDuration::from_millis(most);
        assert!(within.contains(wait), "{waits:?}");
    }
}

pub async fn too_often_for_good(case: Case) {
    let (error, asked) = case.fails_with(Reply::status(429)).await;
    assert!(matches!(error, ProviderError::RateLimited { .. }), "{error:?}");
    assert_eq!(asked, 4);
}

pub async fn too_often_for_hours(case: Case) {
    let (error, asked) = case.fails_with(Reply::with_header(429, "Retry-After: 3600")).await;
    let ProviderError::RateLimited { retry_after, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!((retry_after.map(|wait| wait.as_secs()), asked), (Some(3_600), 1));
}

pub async fn out_of_order_for_a_moment(case: Case) {
    case.recovers_from([500, 502, 503].map(Reply::status).into()).await;
}

pub async fn out_of_order_for_good(case: Case) {
    let (error, asked) = case.fails_with(Reply::status(503)).await;
    assert!(
        matches!(error, ProviderError::Unavailable { status: 503, .. }),
        "{error:?}"
    );
    assert_eq!(asked, 4);
}

pub async fn cut_short(case: Case) {
    let whole = case.subject.happy[0].1.clone();
    let cut = Reply::Cut(whole.clone(), whole.len() / 2);
    let (error, asked) = case.fails_with(cut).await;
    assert!(matches!(error, ProviderError::Cut { .. }), "{error:?}");
    assert_eq!(asked, 4);
}

pub async fn cut_short_once(case: Case) {
    let whole = case.subject.happy[0].1.clone();
    case.recovers_from(vec![Reply::Cut(whole.clone(), whole.len() / 2)])
        .await;
}

pub async fn nobody_there(case: Case) {
    let port = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let provider = (case.subject.build)(&format!("http://{port}"), &setup(&case.clock));
    let error = provider.fetch(&case.subject.ask).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unreachable { .. }), "{error:?}");
}

pub async fn no_json(case: Case) {
    for body in [
        "<html>maintenance</html>",
        "",
        &case.subject.happy[0].1[..case.subject.happy[0].1.len() / 2],
    ] {
        case.server.first([Reply::ok(body)]);
        let before = case.server.requests();
        let error = case.ask().await.unwrap_err();
        assert!(matches!(error, ProviderError::Malformed { .. }), "{body}: {error:?}");
        assert_eq!(case.server.requests(), before + 1);
    }
}

pub async fn another_shape(case: Case) {
    for body in ["42", "\"text\"", "true"] {
        case.server.first([Reply::ok(body)]);
        let error = case.ask().await.unwrap_err();
        assert!(matches!(error, ProviderError::Malformed { .. }), "{body}: {error:?}");
    }
}

pub async fn announced_too_large(case: Case) {
    let (error, asked) = case.fails_with(Reply::ok(" ".repeat(100_001))).await;
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
    assert_eq!(asked, 1);
}

pub async fn on_and_on(case: Case) {
    let (error, asked) = case.fails_with(Reply::Endless).await;
    assert!(matches!(error, ProviderError::TooLarge { .. }), "{error:?}");
    assert_eq!(asked, 1);
}

pub async fn a_symbol_it_does_not_know(case: Case) {
    let Some(unknown) = &case.subject.unknown else {
        // Who names nobody cannot name a stranger: the answer is about the whole market.
        assert!(case.subject.ask.symbols().is_empty());
        return;
    };
    case.play(&unknown.places);
    let answer = case.provider.fetch(&unknown.ask).await.unwrap();
    assert_eq!(lines(&answer), unknown.means);
    assert_eq!(answer.unknown, symbols(&unknown.unknown));
}

pub async fn silence(case: Case) {
    // The machine's time stands still and jumps to the deadline as soon as nothing else happens.
    tokio::time::pause();
    let setup = Setup {
        retry: sources::provider::http::Retry {
            attempts: 1,
            ..Default::default()
        },
        ..setup(&case.clock)
    };
    let provider = (case.subject.build)(&case.server.url, &setup);
    case.server.first([Reply::Silence]);
    let error = provider.fetch(&case.subject.ask).await.unwrap_err();
    let ProviderError::TimedOut { within, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(within.as_secs(), 20);
}

pub async fn printed(case: Case) {
    let replies = [
        Reply::Whole(401, String::new(), format!(r#"{{"error":"bad key {KEY}"}}"#)),
        Reply::Whole(400, String::new(), format!(r#"{{"error":"bad key {KEY}"}}"#)),
        Reply::ok(format!("\"{KEY}\"")),
        Reply::ok(format!("{{\"{KEY}\": {{\"latestTrade\": 1}}}}")),
    ];
    let mut printed = format!("{:?}", case.provider);
    for reply in replies {
        case.server.first([reply]);
        if let Err(error) = case.ask().await {
            printed += &format!("{error} {error:?}");
        }
    }
    assert!(!printed.contains(KEY), "{printed}");
}

pub async fn a_clock_that_is_ahead(case: Case) {
    assert_eq!(case.provider.clock_skew(), None);
    case.play(&case.subject.happy);
    case.ask().await.unwrap();
    let waited = case
        .clock
        .waits()
        .into_iter()
        .fold(SignedDuration::ZERO, |sum, wait| sum + wait);
    assert_eq!(waited, SignedDuration::ZERO, "the happy path fits the budget");
    assert_eq!(case.provider.clock_skew(), Some(SignedDuration::from_secs(7)));
}

/// Puts a subject through the table.
macro_rules! conformance {
    ($($name:ident: $subject:expr;)*) => {$(
        mod $name {
            use super::*;
            use crate::table::*;

            crate::table::cases! { $subject;
                case_01 the_documented_answer
                case_02 nothing_to_tell
                case_03 a_second_page
                case_04 a_key_that_is_wrong
                case_05 a_plan_that_is_too_small
                case_06 too_often_for_so_many_seconds
                case_07 too_often_until_a_date
                case_08 too_often_without_a_word
                case_09 too_often_for_good
                case_10 too_often_for_hours
                case_11 out_of_order_for_a_moment
                case_12 out_of_order_for_good
                case_13 cut_short
                case_13_once cut_short_once
                case_14 nobody_there
                case_15 no_json
                case_16 another_shape
                case_17 announced_too_large
                case_18 on_and_on
                case_19 a_symbol_it_does_not_know
                case_20 silence
                case_21 printed
                case_22 a_clock_that_is_ahead
            }
        }
    )*};
}

macro_rules! cases {
    ($subject:expr; $($number:ident $case:ident)*) => {$(
        #[tokio::test]
        async fn $number() {
            $case(Case::new($subject).await).await;
        }
    )*};
}

pub(crate) use {cases, conformance};
