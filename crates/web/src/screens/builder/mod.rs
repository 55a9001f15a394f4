//! The builder of a new alert: a rule in words or operators, a form that follows it, its sentence and its preview.

pub mod alert_form;
mod chart;
mod hints;
mod notification;

use alerts::AlertId;
use alerts::expression::ExpressionError;
use askama::Template;
use fluent_bundle::FluentValue;
use service::alerts::Preview;
use service::alerts::preview::noise::{Noise, NoiseFix};

use crate::figures;
use crate::filters;
use crate::layout::Shell;
use crate::screens::passed_level::{PassedLevel, flip_text};
use crate::texts;

use alert_form::Control;

pub use alert_form::AlertForm;
pub use chart::{ChartLevel, RuleChart, rule_chart};
pub use notification::{NotificationPart, ROUTE_INPUTS};

/// An example of a rule, with its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleExample {
    /// The id of the text that says what it is for.
    pub text: &'static str,
    /// The rule without its stock.
    pub rule: &'static str,
}

/// Examples for the first alert.
const EXAMPLES: [RuleExample; 5] = [
    RuleExample {
        text: "example-level",
        rule: "price <= 180",
    },
    RuleExample {
        text: "example-dip",
        rule: "price < 180 and rsi < 30",
    },
    RuleExample {
        text: "example-trailing",
        rule: "price <= 0.92 * high_since_armed",
    },
    RuleExample {
        text: "example-volume",
        rule: "volume > 3 * avg_volume(20)",
    },
    RuleExample {
        text: "example-move",
        rule: "(change_pct(prev_close) >= 4 or change_pct(prev_close) <= -4) each time cooldown 1d",
    },
];

/// The error of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuleError {
    /// The message.
    pub message: String,
    /// The part of the rule before the error, and the part from there on.
    pub place: Option<(String, String)>,
}

impl RuleError {
    /// Describes an error at its place in a rule.
    #[must_use]
    pub fn new(rule: &str, message: String, error: Option<&ExpressionError>) -> Self {
        let split = |position: usize| {
            let before: String = rule.chars().take(position.saturating_sub(1)).collect();
            let after: String = rule.chars().skip(position.saturating_sub(1)).collect();
            (before, after)
        };
        Self {
            message,
            place: error.map(|error| split(error.position)),
        }
    }
}

/// The meaning of a rule, and when it would have fired.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RuleCheck {
    /// The sentence.
    pub sentence: Option<String>,
    /// The preview.
    pub preview: Option<PreviewText>,
    /// The error.
    pub error: Option<RuleError>,
    /// The chart.
    pub chart: Option<RuleChart>,
    /// The level, if the price has passed it.
    pub passed: Option<PassedRule>,
}

/// A rule whose level the price has passed, so that it fires at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PassedRule {
    /// The level.
    pub level: PassedLevel,
    /// The rule of the alert on the other side of the level.
    pub flipped: String,
}

impl RuleCheck {
    /// Whether there is no rule to show yet.
    fn is_empty(&self) -> bool {
        self.sentence.is_none() && self.preview.is_none() && self.error.is_none()
    }
}

/// A preview in words.
#[derive(Clone, PartialEq, Debug)]
pub struct PreviewText {
    /// How often the alert would have fired.
    pub summary: String,
    /// The played days.
    pub coverage: Option<String>,
    /// Warnings: a condition that can never be true, too many firings, metrics without values.
    pub warnings: Vec<String>,
    /// The mean moves of the stock after the firings: sessions, move, move of the benchmark.
    pub outcomes: Vec<(u16, String, String)>,
    /// The newest firings: time, price, reason.
    pub firings: Vec<(jiff::Timestamp, String, String)>,
}

/// The number of firings that are listed.
const MAX_LISTED_FIRINGS: usize = 8;

impl PreviewText {
    /// Describes a preview.
    #[must_use]
    pub fn of(preview: &Preview) -> Self {
        let count = FluentValue::from(preview.count);
        let summary = match preview.per_year {
            Some(per_year) => {
                let per_year = format!("{per_year:.1}");
                texts::text_with("preview-count", [("count", count), ("per_year", per_year.into())])
            }
            None => texts::text("preview-no-history"),
        };
        let noise = preview.noise.map(noise_text);
        let unknown = (!preview.unknown_metrics.is_empty()).then(|| {
            let names = preview.unknown_metrics.join(", ");
            texts::text_with("preview-unknown", [("metrics", names.into())])
        });
        let never_true = (!preview.never_true.is_empty()).then(|| {
            let reasons = preview.never_true.join("; ");
            texts::text_with("preview-never-true", [("reasons", reasons.into())])
        });
        let hours = preview
            .lacks_extended_hours
            .then(|| texts::text("preview-no-extended-hours"));
        let coverage = preview.coverage.days.map(|(from, to)| format!("{from} – {to}"));
        let newest = preview.firings.iter().rev().take(MAX_LISTED_FIRINGS);
        Self {
            summary,
            coverage,
            warnings: never_true
                .into_iter()
                .chain(noise)
                .chain(unknown)
                .chain(hours)
                .collect(),
            outcomes: outcomes(preview),
            firings: newest
                .map(|firing| {
                    let price = firing.price.map(|price| figures::usd(price.decimal()));
                    (firing.at, price.unwrap_or_default(), firing.reason.clone())
                })
                .collect(),
        }
    }
}

fn noise_text(noise: Noise) -> String {
    let fix = match noise.fix {
        NoiseFix::SingleReminder => "noise-single-reminder",
        NoiseFix::RearmPercent => "noise-rearm-percent",
        NoiseFix::RearmBelowZero => "noise-rearm-below-zero",
        NoiseFix::RearmAboveZero => "noise-rearm-above-zero",
        NoiseFix::OncePerDay => "noise-once-per-day",
        NoiseFix::StricterOrCooldown => "noise-cooldown",
        NoiseFix::StricterOrLongerCooldown => "noise-longer-cooldown",
    };
    let values = [
        ("count", noise.per_year.round().into()),
        ("most", noise.most_in_a_session.into()),
    ];
    format!("{} {}", texts::text_with("noise", values), texts::text(fix))
}

fn outcomes(preview: &Preview) -> Vec<(u16, String, String)> {
    let percent =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:+.2}%").replace('-', "−"));
    let outcome = &preview.outcome;
    let rows = service::alerts::HORIZON_SESSIONS
        .iter()
        .zip(outcome.mean_pct)
        .zip(outcome.benchmark_pct);
    let known = rows.filter(|((_, mean), _)| mean.is_some());
    known
        .map(|((sessions, mean), benchmark)| (*sessions, percent(mean), percent(benchmark)))
        .collect()
}

/// The alert that a builder is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BuilderTarget {
    /// A new one.
    #[default]
    New,
    /// One that exists. It keeps its stock; one over many stocks may change them.
    Present {
        /// The id.
        id: AlertId,
        /// Whether it is over many stocks.
        is_scoped: bool,
    },
}

impl BuilderTarget {
    /// Returns the address of the builder.
    fn path(self) -> String {
        match self {
            Self::New => "/alerts/new".to_owned(),
            Self::Present { id, .. } => format!("/alerts/{id}/edit"),
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::New => "new-alert",
            Self::Present { .. } => "edit-alert",
        }
    }

    const fn submit(self) -> &'static str {
        match self {
            Self::New => "create-alert",
            Self::Present { .. } => "save-changes",
        }
    }
}

/// The builder.
#[derive(Template, Debug)]
#[template(path = "builder.html")]
pub struct BuilderPage {
    /// The frame.
    pub shell: Shell,
    /// The rule as it was typed.
    pub rule: String,
    /// The rule that the form follows. As long as the typed rule is the same, the form counts.
    pub read_rule: String,
    /// The form.
    pub form: AlertForm,
    /// The note.
    pub note: String,
    /// The tags, separated by commas.
    pub tags: String,
    /// The meaning of the rule.
    pub check: RuleCheck,
    /// The stock of the examples.
    pub example_symbol: String,
    /// The error of the note.
    pub note_error: Option<String>,
    /// The error of the tags.
    pub tags_error: Option<String>,
    /// The route of the alert.
    pub notification: NotificationPart,
    /// The alert.
    pub target: BuilderTarget,
}

/// The meaning of a rule or of a form, for a builder that is on the screen already.
#[derive(Template, Debug)]
#[template(path = "builder_part.html")]
pub struct BuilderPart {
    /// The frame.
    pub shell: Shell,
    /// The meaning.
    pub check: RuleCheck,
    /// The rule that means the same as the form; `None` leaves the typed one.
    pub rule: Option<String>,
    /// The rule that the form follows; `None` leaves it as it is.
    pub read_rule: Option<String>,
    /// The form; `None` leaves the one on the screen.
    pub form: Option<AlertForm>,
    /// The alert.
    pub target: BuilderTarget,
}

impl BuilderPage {
    /// Returns the query of the builder with an example.
    fn example_query(&self, example: &RuleExample) -> String {
        let rule = format!("{} {}", self.example_symbol, example.rule);
        url::form_urlencoded::Serializer::new(String::new())
            .append_pair("text", &rule)
            .finish()
    }

    const fn examples(&self) -> [RuleExample; EXAMPLES.len()] {
        EXAMPLES
    }
}

fn sessions_text(sessions: &u16) -> String {
    texts::text_with("after-sessions", [("count", (*sessions).into())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_names_the_inputs_of_the_form() {
        let text = |per_year, most_in_a_session, fix| {
            noise_text(Noise {
                per_year,
                most_in_a_session,
                fix,
            })
        };
        assert_eq!(
            text(82.4, 3, NoiseFix::OncePerDay),
            "It fires about 82 times a year, and up to 3 times in one session. Set “Fires” to “Once per day”."
        );
        assert_eq!(
            text(1.0, 1, NoiseFix::StricterOrCooldown),
            "It fires about once a year. Choose a stricter level, or set “Cooldown after a firing” to a time such as 7d."
        );
    }
}
