//! The options of generated alerts whose conditions are no expressions.

use alerts::Condition;
use alerts::expression::conversion::from_condition;
use alerts::options::{AlertOptions, Cooldown, Expiry, Hold, Repeat, check_fit};
use jiff::{Timestamp, ToSpan};
use proptest::prelude::*;
use proptest::sample::select;

/// The options, if they fit the condition; the end and the snooze are in minutes ahead.
#[derive(Clone, Debug)]
pub(crate) struct OptionPlan {
    options: AlertOptions,
    expires: Option<i64>,
    snoozed: Option<i64>,
}

impl OptionPlan {
    /// Returns the options of an alert that is made at `now`. Options that do not fit its condition are omitted.
    pub(crate) fn build(&self, condition: &Condition, now: Timestamp) -> AlertOptions {
        if from_condition(condition).is_some() {
            return AlertOptions::default();
        }
        let snoozed_until = self.snoozed.map(|minutes| now + minutes.minutes());
        let options = AlertOptions {
            expires_at: self.expires.map(|minutes| Expiry::Instant(now + minutes.minutes())),
            snoozed_until,
            ..self.options.clone()
        };
        let with_snooze = AlertOptions {
            snoozed_until,
            ..AlertOptions::default()
        };
        let without_hold = AlertOptions {
            hold: None,
            cooldown_refire: false,
            ..options.clone()
        };
        let candidates = [options, without_hold, with_snooze].map(|options| options.of_condition(condition));
        let fitting = candidates
            .into_iter()
            .find(|options| check_fit(options, condition).is_ok());
        fitting.unwrap_or_default()
    }
}

/// Generates options; half of them are the default.
pub(crate) fn option_plans() -> impl Strategy<Value = OptionPlan> {
    let default = OptionPlan {
        options: AlertOptions::default(),
        expires: None,
        snoozed: None,
    };
    let repeat = select(vec![
        Repeat::Once,
        Repeat::EachTime,
        Repeat::EachTime,
        Repeat::OncePerDay,
    ]);
    let cooldown = prop::option::weighted(0.3, select(vec!["1m", "2h", "1d", "3d"]));
    let hold = prop::option::weighted(0.2, select(vec!["1m", "1h", "6h", "1d", "2d"]));
    let others = (any::<bool>(), any::<bool>(), prop::option::weighted(0.2, 1..4_u16));
    let ends = (
        prop::option::weighted(0.2, 1_i64..40_000),
        prop::option::weighted(0.2, 1_i64..20_000),
    );
    let options = (repeat, cooldown, hold, others, ends).prop_map(|(repeat, cooldown, hold, others, ends)| {
        let (cooldown_refire, notify_on_expiry, max_firings) = others;
        OptionPlan {
            options: AlertOptions {
                repeat,
                cooldown: cooldown.and_then(|text| Cooldown::new(text.parse().expect("a length"))),
                // Without a long cooldown it fires every minute.
                cooldown_refire: cooldown_refire && cooldown.is_some_and(|text| text.ends_with('d')),
                hold: hold.and_then(|text| Hold::new(text.parse().expect("a length"))),
                notify_on_expiry,
                max_firings,
                ..AlertOptions::default()
            },
            expires: ends.0,
            snoozed: ends.1,
        }
    });
    prop_oneof![Just(default), options]
}
