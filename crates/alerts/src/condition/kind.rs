//! The kinds of conditions and the families they belong to.

use std::fmt;

use super::spec::ConditionSpec;
use super::{alternative, dates, expression, price, technical};

/// A family of conditions. A plan includes whole families.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ConditionFamily {
    /// Conditions on the price.
    Price,
    /// Conditions on averages and the RSI.
    Technical,
    /// Conditions on the volume.
    Volume,
    /// Conditions on P/E ratios.
    Fundamental,
    /// Conditions on insider trades and social media mentions.
    AlternativeData,
    /// Reminders.
    Time,
    /// Conditions on earnings and dividend dates.
    Dividend,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $spec:path;)*) => {
        /// The kind of a condition. Its [`spec`](Self::spec) describes it.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum ConditionKind { $($(#[$doc])* $kind,)* }

        impl ConditionKind {
            /// All kinds of conditions.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Returns the description.
            #[must_use]
            pub const fn spec(self) -> &'static ConditionSpec {
                match self { $(Self::$kind => &$spec,)* }
            }
        }
    };
}

kinds! {
    /// The price is at or above a price.
    PriceAbove = price::PRICE_ABOVE;
    /// The price is at or below a price.
    PriceBelow = price::PRICE_BELOW;
    /// The price has risen by a percentage.
    PriceChangeUp = price::PRICE_CHANGE_UP;
    /// The price has fallen by a percentage.
    PriceChangeDown = price::PRICE_CHANGE_DOWN;
    /// The price is above its 52-week high.
    NewHigh = price::NEW_HIGH;
    /// The price is below its 52-week low.
    NewLow = price::NEW_LOW;
    /// The 50-day average rises above the 200-day average.
    MaCrossoverGolden = technical::MA_CROSSOVER_GOLDEN;
    /// The 50-day average falls below the 200-day average.
    MaCrossoverDeath = technical::MA_CROSSOVER_DEATH;
    /// The price rises to a moving average.
    MaTouchAbove = technical::MA_TOUCH_ABOVE;
    /// The price falls to a moving average.
    MaTouchBelow = technical::MA_TOUCH_BELOW;
    /// The RSI reaches a threshold.
    RsiLimit = technical::RSI_LIMIT;
    /// The volume is a percentage above its average.
    VolumeChange = technical::VOLUME_CHANGE;
    /// Price ÷ trailing earnings is at or below a ratio.
    PeRatioBelow = price::PE_RATIO_BELOW;
    /// Price ÷ trailing earnings is at or above a ratio.
    PeRatioAbove = price::PE_RATIO_ABOVE;
    /// Price ÷ forward earnings is at or below a ratio.
    ForwardPeBelow = price::FORWARD_PE_BELOW;
    /// Price ÷ forward earnings is at or above a ratio.
    ForwardPeAbove = price::FORWARD_PE_ABOVE;
    /// Discussion on social media rises sharply or fades.
    SocialBuzz = alternative::SOCIAL_BUZZ;
    /// Insiders buy or sell for at least a total value.
    InsiderTransactions = alternative::INSIDER_TRANSACTIONS;
    /// A reminder at one instant.
    Reminder = dates::REMINDER;
    /// A reminder on every trading day.
    DailyReminder = dates::DAILY_REMINDER;
    /// The next earnings date is near.
    EarningsAnnouncement = dates::EARNINGS_ANNOUNCEMENT;
    /// The next ex-dividend date is near.
    DividendExDate = dates::DIVIDEND_EX_DATE;
    /// A dividend is paid today.
    DividendPayment = dates::DIVIDEND_PAYMENT;
    /// An expression becomes true.
    Expression = expression::EXPRESSION;
}

impl ConditionKind {
    /// Returns the name in requests and responses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.spec().name
    }

    /// Returns the family. For an expression it is that of the most demanding ones: see
    /// [`Condition::family`](super::Condition::family).
    #[must_use]
    pub const fn family(self) -> ConditionFamily {
        self.spec().family
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ConditionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_24_condition_names_are_unique() {
        let names: std::collections::BTreeSet<_> = ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), 24);
        assert!(
            ConditionKind::ALL
                .iter()
                .all(|kind| ConditionKind::from_name(kind.name()) == Some(*kind))
        );
    }
}
