//! The expected firings of an alert: a model of its condition that knows every observed price.
//!
//! The pushes to one stock are a sequence: the next one is sent when the one before was accepted, and the client activates alerts in
//! between. So the price at which each activation fires is certain, whichever node judges it. The model is the oracle of the test. A
//! second service on the same pushes would have its own defects, and it would have to be activated at the same instants.

use serde_json::{Value, json};

/// A price in hundredths of a dollar.
pub(crate) type Cents = i64;

/// The condition of an alert.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    /// The price is at or above a level.
    Above(Cents),
    /// The price is at or below a level.
    Below(Cents),
    /// The price has risen by hundredths of a percent since the activation.
    RiseBy(i64),
    /// The price has fallen by hundredths of a percent since the activation.
    FallBy(i64),
    /// The price is hundredths of a percent below its highest since the activation.
    BelowHighest(i64),
    /// The price crosses a level from below.
    CrossesAbove(Cents),
    /// As `Above`. The alert stays active, and fires again once the price has been at or below a second level.
    Repeating {
        /// The level at which it fires.
        level: Cents,
        /// The level at which it is armed again.
        rearm: Cents,
    },
}

/// Ten thousand hundredths of a percent are the whole.
const WHOLE: i64 = 10_000;

impl Condition {
    /// Returns the body of the request that creates the alert.
    pub(crate) fn request(self, symbol: &str) -> Value {
        let simple = |condition: &str, threshold: Value| json!({"symbol": symbol, "condition": condition, "threshold": threshold});
        let expression =
            |when: String| json!({"symbol": symbol, "condition": "expression", "parameters": {"when": when}});
        match self {
            Self::Above(level) => simple("price_above", dollars(level)),
            Self::Below(level) => simple("price_below", dollars(level)),
            Self::RiseBy(change) => simple("price_change_up", dollars(change)),
            Self::FallBy(change) => simple("price_change_down", dollars(change)),
            Self::BelowHighest(change) => expression(format!("price <= {} * high_since_armed", factor(WHOLE - change))),
            Self::CrossesAbove(level) => expression(format!("price crosses above {}", dollars(level))),
            Self::Repeating { level, rearm } => {
                let mut body = simple("price_above", dollars(level));
                body["options"] = json!({"repeat": "each_time", "rearm": {"at": dollars(rearm)}});
                body
            }
        }
    }
}

/// Returns a price, or a percentage, as the API writes it.
pub(crate) fn dollars(cents: Cents) -> Value {
    let text = format!("{}.{:02}", cents / 100, cents % 100);
    text.parse::<f64>().map_or(Value::Null, Value::from)
}

fn factor(of_whole: i64) -> String {
    format!("{}.{:04}", of_whole / WHOLE, of_whole % WHOLE)
}

/// The condition that the alert waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// It fires when its condition becomes true.
    Armed {
        /// The price at the activation.
        initial: Cents,
        /// The highest price since the activation.
        highest: Cents,
    },
    /// It has fired, and is active.
    WaitsForRearm,
    /// It has fired, and is not active.
    Triggered,
}

/// An alert with its expected firings.
#[derive(Clone, Debug)]
pub(crate) struct ModelAlert {
    pub(crate) id: String,
    pub(crate) symbol: String,
    pub(crate) condition: Condition,
    pub(crate) state: State,
    /// The prices at which it fires, in order.
    pub(crate) fired: Vec<Cents>,
}

impl ModelAlert {
    /// An alert that is created at a price.
    pub(crate) fn new(id: String, symbol: &str, condition: Condition, price: Cents) -> Self {
        Self {
            id,
            symbol: symbol.to_owned(),
            condition,
            state: State::Armed {
                initial: price,
                highest: price,
            },
            fired: Vec::new(),
        }
    }

    /// Whether an activation at a price fires at once.
    pub(crate) fn holds_at(&self, price: Cents) -> bool {
        match self.condition {
            Condition::Above(level) | Condition::Repeating { level, .. } => price >= level,
            Condition::Below(level) => price <= level,
            Condition::RiseBy(_) | Condition::FallBy(_) | Condition::BelowHighest(_) | Condition::CrossesAbove(_) => {
                false
            }
        }
    }

    /// Activates the alert. `initial` is the price in the response, `price` the last one that was pushed.
    pub(crate) fn activate(&mut self, initial: Cents, price: Cents) {
        self.state = State::Armed {
            initial,
            highest: price,
        };
    }

    /// Observes a price after another one. Returns whether the alert fires.
    pub(crate) fn observe(&mut self, before: Cents, price: Cents) -> bool {
        let (initial, highest) = match self.state {
            State::Triggered => return false,
            State::WaitsForRearm => {
                if let Condition::Repeating { rearm, .. } = self.condition
                    && price <= rearm
                {
                    self.activate(price, price);
                }
                return false;
            }
            State::Armed { initial, highest } => (initial, highest.max(price)),
        };
        let fires = match self.condition {
            Condition::Above(level) | Condition::Repeating { level, .. } => price >= level,
            Condition::Below(level) => price <= level,
            Condition::RiseBy(change) => price * WHOLE >= initial * (WHOLE + change),
            Condition::FallBy(change) => price * WHOLE <= initial * (WHOLE - change),
            Condition::BelowHighest(change) => price * WHOLE <= highest * (WHOLE - change),
            Condition::CrossesAbove(level) => before < level && level <= price,
        };
        self.state = match (fires, self.condition) {
            (false, _) => State::Armed { initial, highest },
            (true, Condition::Repeating { .. }) => State::WaitsForRearm,
            (true, _) => State::Triggered,
        };
        if fires {
            self.fired.push(price);
        }
        fires
    }

    /// Returns the status that the API shows.
    pub(crate) const fn status(&self) -> &'static str {
        match self.state {
            State::Armed { .. } | State::WaitsForRearm => "active",
            State::Triggered => "triggered",
        }
    }
}

/// Compares the prices of firings with the expected ones, both in order. Returns those that are lost, and those that nothing explains.
pub(crate) fn differences(expected: &[Cents], actual: &[Cents]) -> (Vec<Cents>, Vec<Cents>) {
    // The length of the longest common subsequence of the rest of both.
    let mut common = vec![vec![0_usize; actual.len() + 1]; expected.len() + 1];
    for (at, want) in expected.iter().enumerate().rev() {
        for (of, got) in actual.iter().enumerate().rev() {
            common[at][of] = if want == got {
                common[at + 1][of + 1] + 1
            } else {
                common[at + 1][of].max(common[at][of + 1])
            };
        }
    }
    let (mut lost, mut doubled) = (Vec::new(), Vec::new());
    let (mut at, mut of) = (0, 0);
    while at < expected.len() && of < actual.len() {
        if expected[at] == actual[of] {
            (at, of) = (at + 1, of + 1);
        } else if common[at + 1][of] >= common[at][of + 1] {
            lost.push(expected[at]);
            at += 1;
        } else {
            doubled.push(actual[of]);
            of += 1;
        }
    }
    lost.extend(&expected[at..]);
    doubled.extend(&actual[of..]);
    (lost, doubled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(condition: Condition) -> ModelAlert {
        ModelAlert::new("id".to_owned(), "S000", condition, 10_000)
    }

    /// Returns at which of these prices the alert fires.
    fn fired(condition: Condition, prices: &[Cents]) -> Vec<Cents> {
        let mut alert = alert(condition);
        let mut before = 10_000;
        for &price in prices {
            alert.observe(before, price);
            before = price;
        }
        alert.fired
    }

    #[test]
    fn alert_fires_once_at_its_level_and_not_before() {
        assert_eq!(fired(Condition::Above(10_200), &[10_199, 10_200, 10_300]), [10_200]);
        assert_eq!(fired(Condition::Below(9_800), &[9_801, 9_800, 9_700]), [9_800]);
        assert_eq!(fired(Condition::RiseBy(250), &[10_249, 10_250]), [10_250]);
        assert_eq!(fired(Condition::FallBy(250), &[9_751, 9_750]), [9_750]);
        assert_eq!(fired(Condition::BelowHighest(300), &[10_400, 10_089, 10_088]), [10_088]);
    }

    #[test]
    fn crossing_needs_a_price_below_the_level_before() {
        assert_eq!(fired(Condition::CrossesAbove(9_900), &[10_100, 9_899, 9_900]), [9_900]);
    }

    #[test]
    fn repeating_alert_fires_again_when_the_price_has_been_at_its_second_level() {
        let repeating = Condition::Repeating {
            level: 10_200,
            rearm: 9_900,
        };
        assert_eq!(
            fired(repeating, &[10_200, 9_901, 10_300, 9_900, 10_400]),
            [10_200, 10_400]
        );
    }

    #[test]
    fn activated_alert_fires_again() {
        let mut alert = alert(Condition::RiseBy(100));
        assert!(alert.observe(10_000, 10_100));
        assert_eq!(alert.status(), "triggered");
        assert!(!alert.observe(10_100, 10_500));
        alert.activate(10_500, 10_500);
        assert!(!alert.observe(10_500, 10_600));
        assert!(alert.observe(10_600, 10_605));
    }

    #[test]
    fn differences_are_the_lost_and_the_unexplained_firings() {
        assert_eq!(differences(&[1, 2, 3], &[1, 2, 3]), (vec![], vec![]));
        assert_eq!(differences(&[1, 2, 3], &[1, 3]), (vec![2], vec![]));
        assert_eq!(differences(&[1, 2], &[1, 1, 2]), (vec![], vec![1]));
        assert_eq!(differences(&[1, 2], &[1, 4]), (vec![2], vec![4]));
    }

    #[test]
    fn prices_are_written_as_dollars() {
        assert_eq!(dollars(10_205), json!(102.05));
        assert_eq!(
            Condition::BelowHighest(300).request("A")["parameters"]["when"],
            json!("price <= 0.9700 * high_since_armed")
        );
    }
}
