//! The invented companies.

use market::{Price, Symbol};

/// One company of the simulated market.
#[derive(Clone, Copy, Debug)]
pub(super) struct Company {
    pub(super) ticker: &'static str,
    pub(super) name: &'static str,
    pub(super) sector: &'static str,
    /// Its first price in US dollars.
    pub(super) first_price: f64,
    /// Its usual movement in a year, as a fraction.
    pub(super) volatility: f64,
    /// How much of the market's movement it takes part in.
    pub(super) beta: f64,
    /// Its usual volume a day, in shares.
    pub(super) volume: f64,
    /// Its dividend in a quarter as a fraction of the price; 0 for none.
    pub(super) dividend: f64,
}

impl Company {
    pub(super) fn symbol(&self) -> Symbol {
        self.ticker.parse().expect("the tickers below are tickers")
    }

    /// A price as near as it gets to `dollars`, in cents.
    #[expect(clippy::cast_possible_truncation, reason = "clamped to what fits")]
    pub(super) fn price(dollars: f64) -> Price {
        let cents = (dollars * 100.0).round().clamp(1.0, 1e9);
        Price::from_micros((cents as i64) * 10_000).expect("within the range of prices")
    }
}

macro_rules! companies {
    ($($ticker:literal $name:literal $sector:literal $price:literal $volatility:literal $beta:literal $volume:literal $dividend:literal;)*) => {
        /// All twenty of them.
        pub(super) const ALL: &[Company] = &[$(Company {
            ticker: $ticker,
            name: $name,
            sector: $sector,
            first_price: $price,
            volatility: $volatility,
            beta: $beta,
            volume: $volume,
            dividend: $dividend,
        },)*];
    };
}

companies! {
    "ALDR" "Alder Semiconductors" "Technology" 142.50 0.42 1.5 38e6 0.001;
    "ARGO" "Argosy Freight" "Industrials" 88.20 0.26 1.0 4e6 0.005;
    "BRKW" "Breakwater Bank" "Financials" 51.75 0.28 1.1 21e6 0.008;
    "CASC" "Cascade Hydro" "Utilities" 63.40 0.17 0.5 3e6 0.010;
    "CRLN" "Carillon Media" "Communication" 27.90 0.38 1.2 9e6 0.0;
    "DUNE" "Dune Energy" "Energy" 71.10 0.34 0.9 14e6 0.009;
    "ELMS" "Elmstead Foods" "Staples" 58.60 0.16 0.5 6e6 0.007;
    "FLNT" "Flint Aerospace" "Industrials" 205.30 0.33 1.2 5e6 0.0;
    "GLCR" "Glacier Health" "Health Care" 312.00 0.24 0.8 3e6 0.003;
    "HRTH" "Hearth and Home" "Discretionary" 118.40 0.29 1.1 7e6 0.004;
    "INDG" "Indigo Software" "Technology" 264.80 0.36 1.3 16e6 0.0;
    "JUNI" "Juniper Peak Gold" "Materials" 34.15 0.40 0.2 11e6 0.002;
    "KEST" "Kestrel Motors" "Discretionary" 189.20 0.55 1.7 62e6 0.0;
    "LNTN" "Lantern Biotech" "Health Care" 16.35 0.70 1.1 8e6 0.0;
    "MRDN" "Meridian Networks" "Technology" 97.70 0.27 1.1 10e6 0.006;
    "NIMB" "Nimbus Cloud" "Technology" 143.10 0.48 1.5 12e6 0.0;
    "OAKL" "Oakline Realty" "Real Estate" 44.90 0.22 0.8 4e6 0.011;
    "PRLS" "Perlis Payments" "Financials" 232.60 0.25 1.0 6e6 0.003;
    "QRRY" "Quarry Cement" "Materials" 76.80 0.26 1.0 2e6 0.005;
    "RVBN" "Riverbend Retail" "Discretionary" 39.45 0.44 1.3 15e6 0.0;
}
