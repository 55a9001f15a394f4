//! The fictional companies.

use std::collections::BTreeSet;

use market::Symbol;
use market::records::StockRow;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::random::{self, DrawKind};

/// A company of the simulated market, or an index fund.
#[derive(Clone, Debug)]
pub(super) struct Company {
    pub(super) symbol: Symbol,
    pub(super) name: String,
    /// `stock` or `etf`.
    pub(super) kind: &'static str,
    pub(super) sector: &'static str,
    pub(super) industry: &'static str,
    pub(super) country: &'static str,
    pub(super) exchange: &'static str,
    /// The first price, in US dollars.
    pub(super) first_price: f64,
    /// The idiosyncratic volatility per year, as a fraction.
    pub(super) volatility: f64,
    /// The beta: the sensitivity to the market's return.
    pub(super) beta: f64,
    /// The usual volume at the first price, in shares a day.
    pub(super) volume: f64,
    /// The quarterly dividend as a fraction of the first price; 0 for none.
    pub(super) dividend: f64,
    /// The usual P/E ratio; negative for a company without earnings.
    pub(super) pe: f64,
    /// Whether the company has counts of mentions.
    pub(super) has_mentions: bool,
}

impl Company {
    /// Returns the company's row in the catalog.
    pub(super) fn row(&self) -> StockRow {
        StockRow {
            kind: Some(self.kind.into()),
            sector: Some(self.sector.into()),
            industry: Some(self.industry.into()),
            country: Some(self.country.into()),
            exchange: Some(self.exchange.into()),
            ..StockRow::named(self.symbol, self.name.clone())
        }
    }

    /// Whether it reports earnings and has insiders.
    pub(super) fn is_company(&self) -> bool {
        self.kind == "stock"
    }
}

/// Ticker, name, first price, idiosyncratic volatility, beta, volume. The first fund is the benchmark that portfolios are
/// compared with.
type FundProfile = (&'static str, &'static str, f64, f64, f64, f64);

/// The index funds, with the tickers of well-known ones.
const FUNDS: [FundProfile; 4] = [
    ("SPY", "Simulated Market Index Fund", 480.0, 0.01, 1.0, 70e6),
    ("QQQ", "Simulated Technology Index Fund", 410.0, 0.06, 1.2, 45e6),
    ("DIA", "Simulated Industrials Index Fund", 380.0, 0.03, 0.9, 4e6),
    ("IWM", "Simulated Small Companies Index Fund", 200.0, 0.08, 1.1, 30e6),
];

/// Ticker, name, sector, industry, first price, volatility, beta, volume, dividend.
type FixedCompany = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    f64,
    f64,
    f64,
    f64,
    f64,
);

/// The companies that come first in every market.
#[rustfmt::skip]
const FIXED_COMPANIES: [FixedCompany; 20] = [
    ("ALDR", "Alder Semiconductors", "Technology", "Semiconductors", 142.50, 0.42, 1.5, 38e6, 0.001),
    ("ARGO", "Argosy Freight", "Industrials", "Logistics", 88.20, 0.26, 1.0, 4e6, 0.005),
    ("BRKW", "Breakwater Bank", "Financials", "Banks", 51.75, 0.28, 1.1, 21e6, 0.008),
    ("CASC", "Cascade Hydro", "Utilities", "Electricity", 63.40, 0.17, 0.5, 3e6, 0.010),
    ("CRLN", "Carillon Media", "Communication", "Publishing", 27.90, 0.38, 1.2, 9e6, 0.0),
    ("DUNE", "Dune Energy", "Energy", "Oil and Gas", 71.10, 0.34, 0.9, 14e6, 0.009),
    ("ELMS", "Elmstead Foods", "Staples", "Food", 58.60, 0.16, 0.5, 6e6, 0.007),
    ("FLNT", "Flint Aerospace", "Industrials", "Aerospace", 205.30, 0.33, 1.2, 5e6, 0.0),
    ("GLCR", "Glacier Health", "Health Care", "Medical Devices", 312.00, 0.24, 0.8, 3e6, 0.003),
    ("HRTH", "Hearth and Home", "Discretionary", "Furniture", 118.40, 0.29, 1.1, 7e6, 0.004),
    ("INDG", "Indigo Software", "Technology", "Software", 264.80, 0.36, 1.3, 16e6, 0.0),
    ("JUNI", "Juniper Peak Gold", "Materials", "Mining", 34.15, 0.40, 0.2, 11e6, 0.002),
    ("KEST", "Kestrel Motors", "Discretionary", "Automobiles", 189.20, 0.55, 1.7, 62e6, 0.0),
    ("LNTN", "Lantern Biotech", "Health Care", "Biotechnology", 16.35, 0.70, 1.1, 8e6, 0.0),
    ("MRDN", "Meridian Networks", "Technology", "Networks", 97.70, 0.27, 1.1, 10e6, 0.006),
    ("NIMB", "Nimbus Cloud", "Technology", "Software", 143.10, 0.48, 1.5, 12e6, 0.0),
    ("OAKL", "Oakline Realty", "Real Estate", "Offices", 44.90, 0.22, 0.8, 4e6, 0.011),
    ("PRLS", "Perlis Payments", "Financials", "Payments", 232.60, 0.25, 1.0, 6e6, 0.003),
    ("QRRY", "Quarry Cement", "Materials", "Building Materials", 76.80, 0.26, 1.0, 2e6, 0.005),
    ("RVBN", "Riverbend Retail", "Discretionary", "Department Stores", 39.45, 0.44, 1.3, 15e6, 0.0),
];

/// The companies with counts of mentions.
const WITH_MENTIONS: [&str; 3] = ["KEST", "LNTN", "RVBN"];

/// The parts of the names of further companies: a prefix, and an industry name with its sector and industry.
const NAME_PREFIXES: [&str; 40] = [
    "Amber",
    "Birch",
    "Copper",
    "Driftwood",
    "Eastgate",
    "Falcon",
    "Granite",
    "Harbor",
    "Ivory",
    "Jasper",
    "Kingsley",
    "Larkspur",
    "Maple",
    "Northwind",
    "Orchard",
    "Pinecrest",
    "Quill",
    "Redwood",
    "Sable",
    "Tidewater",
    "Umber",
    "Vantage",
    "Willow",
    "Xenia",
    "Yarrow",
    "Zephyr",
    "Ashford",
    "Bluestone",
    "Coral",
    "Dunmore",
    "Evergreen",
    "Foxglove",
    "Greystone",
    "Hollow",
    "Ironwood",
    "Jade",
    "Kelso",
    "Lakeshore",
    "Mistral",
    "Nightingale",
];
const INDUSTRIES: [(&str, &str, &str); 25] = [
    ("Robotics", "Technology", "Automation"),
    ("Software", "Technology", "Software"),
    ("Optics", "Technology", "Instruments"),
    ("Data", "Technology", "Data Centers"),
    ("Chips", "Technology", "Semiconductors"),
    ("Bank", "Financials", "Banks"),
    ("Insurance", "Financials", "Insurance"),
    ("Capital", "Financials", "Asset Management"),
    ("Therapeutics", "Health Care", "Biotechnology"),
    ("Diagnostics", "Health Care", "Medical Devices"),
    ("Clinics", "Health Care", "Health Services"),
    ("Rail", "Industrials", "Railways"),
    ("Tools", "Industrials", "Machinery"),
    ("Airlines", "Industrials", "Airlines"),
    ("Builders", "Discretionary", "Home Building"),
    ("Apparel", "Discretionary", "Apparel"),
    ("Restaurants", "Discretionary", "Restaurants"),
    ("Beverages", "Staples", "Beverages"),
    ("Grocers", "Staples", "Food Retail"),
    ("Petroleum", "Energy", "Oil and Gas"),
    ("Solar", "Energy", "Renewables"),
    ("Water", "Utilities", "Water"),
    ("Steel", "Materials", "Steel"),
    ("Chemicals", "Materials", "Chemicals"),
    ("Towers", "Real Estate", "Communication Sites"),
];

/// The maximum number of companies.
pub(super) const MAX_COMPANIES: usize = FIXED_COMPANIES.len() + NAME_PREFIXES.len() * INDUSTRIES.len();

/// Returns the first `count` companies. Those after the fixed ones depend on the seed.
pub(super) fn companies(seed: u64, count: usize) -> Vec<Company> {
    let listed = FIXED_COMPANIES
        .iter()
        .zip(0..)
        .map(|(row, entity)| listed(row, seed, entity));
    let mut companies: Vec<_> = listed.take(count).collect();
    let mut taken: BTreeSet<Symbol> = FIXED_COMPANIES.iter().map(|row| symbol(row.0)).collect();
    taken.extend(FUNDS.iter().map(|fund| symbol(fund.0)));
    for number in 0..count.min(MAX_COMPANIES).saturating_sub(companies.len()) {
        companies.push(invent(seed, number, &mut taken));
    }
    companies
}

/// Returns the index funds, the benchmark first.
pub(super) fn funds() -> impl Iterator<Item = Company> {
    FUNDS
        .iter()
        .map(|&(ticker, name, first_price, volatility, beta, volume)| Company {
            symbol: symbol(ticker),
            name: name.into(),
            kind: "etf",
            sector: "Funds",
            industry: "Index Funds",
            country: "US",
            exchange: "SIM ARCA",
            first_price,
            volatility,
            beta,
            volume,
            dividend: 0.0035,
            pe: 22.0,
            has_mentions: false,
        })
}

fn symbol(ticker: &str) -> Symbol {
    ticker.parse().expect("the tickers here are tickers")
}

fn listed(row: &FixedCompany, seed: u64, entity: i64) -> Company {
    let &(ticker, name, sector, industry, first_price, volatility, beta, volume, dividend) = row;
    let mut rng = random::of(seed, DrawKind::CompanyProfile, 0, entity);
    Company {
        symbol: symbol(ticker),
        name: name.into(),
        kind: "stock",
        sector,
        industry,
        country: "US",
        exchange: exchange(volatility),
        first_price,
        volatility,
        beta,
        volume,
        dividend,
        // Biotechnology companies have no earnings yet.
        pe: if industry == "Biotechnology" {
            -14.0
        } else {
            rng.random_range(14.0..32.0)
        },
        has_mentions: WITH_MENTIONS.contains(&ticker),
    }
}

/// Returns the exchange: low volatility lists on one, high volatility on the other.
fn exchange(volatility: f64) -> &'static str {
    if volatility < 0.35 { "SIM NYSE" } else { "SIM NASDAQ" }
}

fn invent(seed: u64, number: usize, taken: &mut BTreeSet<Symbol>) -> Company {
    // Each pass through the prefixes shifts the industries by 16, which is coprime to 25, so no pair occurs twice.
    let prefix = NAME_PREFIXES[number % NAME_PREFIXES.len()];
    let (industry_name, sector, industry) = INDUSTRIES[(number / NAME_PREFIXES.len() + number) % INDUSTRIES.len()];
    let entity = i64::try_from(FIXED_COMPANIES.len() + number).unwrap_or(i64::MAX);
    let mut rng = random::of(seed, DrawKind::CompanyProfile, 0, entity);
    let volatility: f64 = rng.random_range(0.16..0.6);
    let biotech = industry == "Biotechnology";
    let pays = !biotech && volatility < 0.35;
    Company {
        symbol: ticker(prefix, industry_name, taken, &mut rng),
        name: format!("{prefix} {industry_name}"),
        kind: "stock",
        sector,
        industry,
        country: "US",
        exchange: exchange(volatility),
        first_price: (rng.random_range(15.0_f64..350.0) * 100.0).round() / 100.0,
        volatility,
        beta: rng.random_range(0.3..1.7),
        volume: rng.random_range(1e6_f64..30e6).round(),
        dividend: if pays { rng.random_range(0.002..0.011) } else { 0.0 },
        pe: if biotech { -14.0 } else { rng.random_range(12.0..35.0) },
        has_mentions: rng.random_bool(0.1),
    }
}

/// Returns an unused ticker of four letters of the name.
fn ticker(prefix: &str, industry_name: &str, taken: &mut BTreeSet<Symbol>, rng: &mut ChaCha8Rng) -> Symbol {
    let letters: Vec<char> = prefix.chars().chain(industry_name.chars()).collect();
    let first = letters[0];
    loop {
        let mut rest: Vec<usize> = (0..3).map(|_| rng.random_range(1..letters.len())).collect();
        rest.sort_unstable();
        let text: String = [first]
            .into_iter()
            .chain(rest.into_iter().map(|at| letters[at]))
            .collect();
        let symbol = symbol(&text.to_ascii_uppercase());
        if taken.insert(symbol) {
            return symbol;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickers_and_names_are_unique() {
        let companies = companies(7, usize::MAX);
        assert_eq!(companies.len(), MAX_COMPANIES);
        let symbols: BTreeSet<_> = companies.iter().map(|company| company.symbol).collect();
        let names: BTreeSet<_> = companies.iter().map(|company| &company.name).collect();
        assert_eq!((symbols.len(), names.len()), (MAX_COMPANIES, MAX_COMPANIES));
        assert!(funds().all(|fund| !symbols.contains(&fund.symbol)));
    }

    #[test]
    fn first_companies_do_not_depend_on_the_count() {
        let (few, many) = (companies(7, 30), companies(7, 60));
        for (one, other) in few.iter().zip(&many) {
            assert_eq!(
                (one.symbol, one.first_price.to_bits()),
                (other.symbol, other.first_price.to_bits())
            );
        }
    }
}
