//! The names of the conditions and the families they belong to.

use std::fmt;

/// A group of conditions that a plan allows or not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Family {
    /// Of the price itself.
    Price,
    /// Of averages and the RSI.
    Technical,
    /// Of the volume.
    Volume,
    /// Of the P/E ratios.
    Fundamental,
    /// Of insiders and of what people talk about.
    AlternativeData,
    /// Of the clock.
    Time,
    /// Of the calendar of earnings and dividends.
    Dividend,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $family:ident;)*) => {
        /// The word the API uses for a condition.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum ConditionKind { $($(#[$doc])* $kind,)* }

        impl ConditionKind {
            /// Every condition there is.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// The name in requests and answers.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// The family it belongs to.
            #[must_use]
            pub const fn family(self) -> Family {
                match self { $(Self::$kind => Family::$family,)* }
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
    /// The price is above the highest of 52 weeks.
    NewHigh = "new_high", Price;
    /// The price is below the lowest of 52 weeks.
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
    /// Discussion rises sharply or fades.
    SocialBuzz = "social_buzz", AlternativeData;
    /// Insiders buy or sell for much money.
    InsiderTransactions = "insider_transactions", AlternativeData;
    /// Once, at an instant.
    Reminder = "reminder", Time;
    /// Every trading day.
    DailyReminder = "daily_reminder", Time;
    /// Earnings are near.
    EarningsAnnouncement = "earnings_announcement", Dividend;
    /// An ex-dividend date is near.
    DividendExDate = "dividend_ex_date", Dividend;
    /// A dividend is paid today.
    DividendPayment = "dividend_payment", Dividend;
}

impl ConditionKind {
    /// The condition of that name.
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
    fn there_are_twenty_three_conditions_with_names_of_their_own() {
        let names: std::collections::BTreeSet<_> = ConditionKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), 23);
        assert!(
            ConditionKind::ALL
                .iter()
                .all(|kind| ConditionKind::from_name(kind.name()) == Some(*kind))
        );
    }
}
