//! The table of metrics.

use super::Metric::{self, *};
use super::spec::MetricSignature::{Base, Bollinger, Macd, Period, Plain};
use super::spec::{Exactness, MetricFamily, MetricNeed, MetricSpec, MetricUnit};

/// Defines the table: name and signature; unit, exactness, family and needs; verb and words in a sentence; definition.
macro_rules! metrics {
    ($(
        $name:literal $signature:expr; $unit:ident $exactness:ident $family:ident [$($need:ident)+];
        $verb:literal $phrase:literal; $definition:literal;
    )*) => {
        /// The metrics, in the order of the documentation.
        pub const METRICS: &[MetricSpec] = &[$(MetricSpec {
            name: $name,
            signature: $signature,
            unit: MetricUnit::$unit,
            exactness: Exactness::$exactness,
            family: MetricFamily::$family,
            needs: &[$(MetricNeed::$need),+],
            definition: $definition,
            phrase: $phrase,
            verb: $verb,
        }),*];
    };
}

metrics! {
    "price" Plain(Price); UsdPerShare Integer Price [Quote]; "is" "price"; "The newest price";
    "open" Plain(Open); UsdPerShare Integer Price [Quote]; "is" "opening price"; "The first price of the session";
    "high" Plain(SessionHigh); UsdPerShare Integer Price [Quote]; "is" "session high";
        "The highest price of the session so far, this observation included";
    "low" Plain(SessionLow); UsdPerShare Integer Price [Quote]; "is" "session low";
        "The lowest price of the session so far, this observation included";
    "prev_close" Plain(PrevClose); UsdPerShare Integer Price [Sessions]; "is" "previous close";
        "The close of the last completed session";
    "volume" Plain(Volume); Shares Integer Premium [Volume]; "is" "volume";
        "The volume of the session so far, this observation included";
    "vwap" Plain(Vwap); UsdPerShare Integer Premium [Vwap]; "is" "volume-weighted average price";
        "Σ (price × volume) ÷ Σ volume of the trades of the session so far, as the source reports it with a quote";
    "bid" Plain(Bid); UsdPerShare Integer Price [BidAsk]; "is" "bid"; "The highest price that a buyer offers";
    "ask" Plain(Ask); UsdPerShare Integer Price [BidAsk]; "is" "ask"; "The lowest price that a seller asks";
    "change_pct" Base(ChangePct); Percent Fraction Price [Quote InitialPrice Sessions]; "is" "percentage change since #";
        "(`price` − base) ÷ base × 100. The base is the initial price (`creation`), the previous close (`prev_close`), the \
         first price of the session (`open`), or the close n completed sessions ago (1 is `prev_close`). Without an \
         argument, it is the base in the alert's options";
    "gap_pct" Plain(GapPct); Percent Fraction Price [Quote Sessions]; "is" "opening gap in percent";
        "(`open` − `prev_close`) ÷ `prev_close` × 100";
    "high" Period(None, High); UsdPerShare Integer Price [Sessions]; "is" "#-day high";
        "The highest price of the last n completed sessions";
    "low" Period(None, Low); UsdPerShare Integer Price [Sessions]; "is" "#-day low";
        "The lowest price of the last n completed sessions";
    "high_52w" Plain(High52Weeks); UsdPerShare Integer Price [Sessions]; "is" "52-week high";
        "The highest price of the trailing 364 days before this observation, today's earlier observations included";
    "low_52w" Plain(Low52Weeks); UsdPerShare Integer Price [Sessions]; "is" "52-week low";
        "The lowest price of the trailing 364 days before this observation, today's earlier observations included";
    "drawdown" Period(None, Drawdown); Percent Fraction Price [Quote Sessions]; "is" "#-day drawdown in percent";
        "(high − `price`) ÷ high × 100, with the highest price of the last n completed sessions and the session so far";
    "sma" Period(None, Sma); UsdPerShare Fraction Premium [Quote Sessions]; "is" "#-day average";
        "The mean of n closes, with the price as today's close";
    "ema" Period(None, Ema); UsdPerShare Approximate Premium [Quote Sessions]; "is" "#-day exponential average";
        "The exponential average of closes with α = 2 ÷ (n + 1), with the price as today's close. It begins with the mean \
         of the first n closes";
    "rsi" Period(Some(14), Rsi); Index Approximate Premium [Quote Sessions]; "is" "#-day RSI";
        "Wilder's relative strength index of closes, with the price as today's close";
    "macd" Macd(Metric::Macd); UsdPerShare Approximate Premium [Quote Sessions]; "is" "MACD(#, #, #)";
        "The fast minus the slow exponential average of closes, with the price as today's close; it begins as TA-Lib's";
    "macd_signal" Macd(MacdSignal); UsdPerShare Approximate Premium [Quote Sessions]; "is" "MACD signal(#, #, #)";
        "The exponential average of `macd` over the signal period";
    "bb_upper" Bollinger(BollingerUpper); UsdPerShare Approximate Premium [Quote Sessions]; "is" "upper Bollinger band(#, #)";
        "`sma(n)` + k × `stdev(n)`";
    "bb_lower" Bollinger(BollingerLower); UsdPerShare Approximate Premium [Quote Sessions]; "is" "lower Bollinger band(#, #)";
        "`sma(n)` − k × `stdev(n)`";
    "atr" Period(Some(14), Atr); UsdPerShare Approximate Premium [Quote Sessions]; "is" "#-day average true range";
        "Wilder's average true range, with the session so far as today's range";
    "stdev" Period(None, StandardDeviation); UsdPerShare Approximate Premium [Quote Sessions]; "is" "#-day standard deviation";
        "The standard deviation of the population of n closes, with the price as today's close";
    "avg_volume" Period(Some(20), AverageVolume); Shares Fraction Premium [Sessions]; "is" "#-day average volume";
        "The mean volume of the last n completed sessions";
    "rvol" Period(Some(20), RelativeVolume); Ratio Fraction Premium [Volume Sessions]; "is" "#-day relative volume";
        "`volume` ÷ `avg_volume(n)`, not corrected for the time of day";
    "high_since_armed" Plain(HighSinceArmed); UsdPerShare Integer Price [Quote]; "is" "high since arming";
        "The highest evaluated price since creation, activation, the end of a snooze or re-arming, this one included";
    "low_since_armed" Plain(LowSinceArmed); UsdPerShare Integer Price [Quote]; "is" "low since arming";
        "The lowest evaluated price since creation, activation, the end of a snooze or re-arming, this one included";
    "pe" Plain(Pe); Ratio Fraction Premium [Quote Earnings]; "is" "P/E"; "`price` ÷ trailing earnings per share";
    "forward_pe" Plain(ForwardPe); Ratio Fraction Premium [Quote Earnings]; "is" "forward P/E";
        "`price` ÷ forward earnings per share";
    "eps" Plain(Eps); UsdPerShare Integer Premium [Fundamentals]; "are" "earnings per share";
        "The trailing earnings per share";
    "market_cap" Plain(MarketCap); Usd Fraction Premium [Fundamentals]; "is" "market capitalization";
        "The market capitalization";
    "dividend_yield" Plain(DividendYield); Percent Fraction Premium [Fundamentals]; "is" "dividend yield in percent";
        "The dividend yield";
    "mentions" Plain(Mentions); Count Integer Premium [Mentions]; "are" "mentions";
        "The mentions on social media in the last 24 hours";
    "mentions_ratio" Plain(MentionsRatio); Ratio Fraction Premium [Mentions]; "is" "mentions ratio";
        "`mentions` ÷ the mean per day of the seven days before";
    "insider_buys" Period(Some(7), InsiderBuys); Usd Fraction Premium [InsiderTrades]; "are" "insider purchases of # days";
        "The value of purchases (Form 4 code P) that were filed within the last n days";
    "insider_sells" Period(Some(7), InsiderSells); Usd Fraction Premium [InsiderTrades]; "are" "insider sales of # days";
        "The value of sales (Form 4 code S) that were filed within the last n days";
    "days_to_earnings" Plain(DaysToEarnings); Days Integer Premium [EarningsDates]; "are" "days to earnings";
        "The calendar days to the next earnings date; 0 is the day itself";
    "days_to_ex_dividend" Plain(DaysToExDividend); Days Integer Premium [DividendDates]; "are" "days to the ex-dividend date";
        "The calendar days to the next ex-dividend date; 0 is the day itself";
    "days_to_payment" Plain(DaysToPayment); Days Integer Premium [DividendDates]; "are" "days to the dividend payment";
        "The calendar days to the next dividend payment; 0 is the day itself";
}
