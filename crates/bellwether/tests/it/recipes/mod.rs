//! The recipes of `docs/rules.md`: each is replayed as the page has it, and fires as the page says. On the sample of market data
//! a recipe is about another stock, and `sample.json` has the expected firings.

mod counts;
mod data;
mod page;

use alerts::expression::Expression;
use serde_json::Value;
use testdata::TestMarketData;

use data::{replay, summary};

/// The replacements and the firings of each recipe on the sample.
const SAMPLE: &str = include_str!("sample.json");

/// A recipe that can be replayed on the available data.
struct ReplayableRecipe {
    source: TestMarketData,
    alert: String,
    expected: String,
}

impl ReplayableRecipe {
    fn find(title: &str) -> Self {
        let recipe = page::recipes().into_iter().find(|recipe| recipe.title == title);
        let recipe = recipe.unwrap_or_else(|| panic!("docs/rules.md lacks the recipe {title}"));
        let source = TestMarketData::find();
        if source.is_recorded {
            return Self {
                source,
                alert: recipe.alert.to_owned(),
                expected: recipe.firings.to_owned(),
            };
        }
        let sample: Value = serde_json::from_str(SAMPLE).unwrap();
        let replaced = sample[title]["replace"].as_object().unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            source,
            alert: replaced.iter().fold(recipe.alert.to_owned(), |alert, (old, new)| {
                alert.replace(old, &text(new))
            }),
            expected: text(&sample[title]["firings"]),
        }
    }

    fn firings(&self) -> Vec<Value> {
        replay(&self.source, &self.alert)
    }
}

fn fires_as_stated(title: &str) {
    let recipe = ReplayableRecipe::find(title);
    assert_eq!(summary(&recipe.firings()), recipe.expected, "{title}");
}

macro_rules! recipe_tests {
    ($($name:ident: $title:literal,)*) => {
        $(
            #[test]
            fn $name() {
                fires_as_stated($title);
            }
        )*

        const TESTED: &[&str] = &[$($title),*];
    };
}

recipe_tests! {
    breakout_on_volume: "Breakout on volume",
    golden_cross_confirmed_by_rsi: "Golden cross confirmed by RSI",
    trailing_stop: "Trailing stop",
    gap_down: "Gap down",
    relative_weakness: "Relative weakness",
    earnings_run_up: "Earnings run-up",
    insider_purchases_after_a_fall: "Insider purchases after a fall",
    mean_reversion: "Mean reversion",
    bollinger_squeeze: "Bollinger squeeze",
    macd_cross: "MACD cross",
    new_52_week_high_on_volume: "New 52-week high on volume",
    volatility_stop: "Volatility stop",
    pullback_to_a_rising_average: "Pullback to a rising average",
    overnight_gap_that_holds: "Overnight gap that holds",
    fall_since_yesterdays_close: "Fall since yesterday's close",
    low_pe_after_a_fall: "Low P/E after a fall",
    mentions_with_volume: "Mentions with volume",
    ex_dividend_date_ahead: "Ex-dividend date ahead",
    range_between_two_prices: "Range between two prices",
    level_with_rearming_and_cooldown: "Level with re-arming and cooldown",
}

#[test]
fn every_recipe_is_tested() {
    let titles: Vec<_> = page::recipes().iter().map(|recipe| recipe.title).collect();
    assert_eq!(titles, TESTED);
}

#[test]
fn example_expressions_are_valid() {
    let examples = page::examples();
    assert!(examples.len() >= 10);
    for example in examples {
        let parsed: Result<Expression, _> = example.parse();
        assert!(parsed.is_ok(), "{example}: {parsed:?}");
    }
}
