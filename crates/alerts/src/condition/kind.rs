//! The names of the conditions and the families they belong to.

use std::fmt;

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
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $family:ident;)*) => {
        /// The kind of a condition, named as in the API.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum ConditionKind { $($(#[$doc])* $kind,)* }

        impl ConditionKind {
            /// All kinds of conditions.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// Returns the name in requests and responses.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// Returns the family.
            #[must_use]
            pub const fn family(self) -> ConditionFamily {
                match self { $(Self::$kind => ConditionFamily::$family,)* }
            }
        }
    };
}

kinds! {
    /// The price is at or above a price.
    PriceAbove = "price_above", Price;
    /// The price is at or below a price.
    PriceBelow = "price_below", Price;
    /// The price has risen by a percentage.
    PriceChangeUp = "price_change_up", Price;
    /// The price has fallen by a percentage.
    PriceChangeDown = "price_change_down", Price;
    /// The price is above its 52-week high.
    NewHigh = "new_high", Price;
    /// The price is below its 52-week low.
    NewLow = "new_low", Price;
    /// The 50-day average rises above the 200-day average.
    MaCrossoverGolden = "ma_crossover_golden", Technical;
    /// The 50-day average falls below the 200-day average.
    MaCrossoverDeath = "ma_crossover_death", Technical;
    /// The price rises to a moving average.
    MaTouchAbove = "ma_touch_above", Technical;
    /// The price falls to a moving average.
    MaTouchBelow = "ma_touch_below", Technical;
    /// The RSI reaches a threshold.
    RsiLimit = "rsi_limit", Technical;
    /// The volume is a percentage above its average.
    VolumeChange = "volume_change", Volume;
    /// Price ÷ trailing earnings is at or below a ratio.
    PeRatioBelow = "pe_ratio_below", Fundamental;
    /// Price ÷ trailing earnings is at or above a ratio.
    PeRatioAbove = "pe_ratio_above", Fundamental;
    /// Price ÷ forward earnings is at or below a ratio.
    ForwardPeBelow = "forward_pe_below", Fundamental;
    /// Price ÷ forward earnings is at or above a ratio.
    ForwardPeAbove = "forward_pe_above", Fundamental;
    /// Discussion on social media rises sharply or fades.
    SocialBuzz = "social_buzz", AlternativeData;
    /// Insiders buy or sell for at least a total value.
    InsiderTransactions = "insider_transactions", AlternativeData;
    /// A reminder at one instant.
    Reminder = "reminder", Time;
    /// A reminder on every trading day.
    DailyReminder = "daily_reminder", Time;
    /// The next earnings date is near.
    EarningsAnnouncement = "earnings_announcement", Dividend;
    /// The next ex-dividend date is near.
    DividendExDate = "dividend_ex_date", Dividend;
    /// A dividend is paid today.
    DividendPayment = "dividend_payment", Dividend;
}

impl ConditionKind {
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
    fn all_23_condition_names_are_unique() {
        let names: std::collections::BTreeSet<_> = ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), 23);
        assert!(
            ConditionKind::ALL
                .iter()
                .all(|kind| ConditionKind::from_name(kind.name()) == Some(*kind))
        );
    }
}
