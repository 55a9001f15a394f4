//! Reading of data folders, and the handling of invalid rows.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::folders;

use std::path::Path;

use jiff::civil::date;
use market::Calendar;
use market::records::{EarningsTime, TransactionSide};
use sources::folder::{self, FolderError, MAX_ROW_BYTES, MarketData, Rejections};

use folders::folder;

const DAILY: &str = "symbol,date,open,high,low,close,volume\n";
const INTRADAY: &str = "symbol,time,open,high,low,close,volume\n";

fn read(dir: &Path) -> Result<(MarketData, Rejections), FolderError> {
    folder::read(dir, &Calendar::nyse(), |_| {})
}

/// Reads a folder in which every row is valid.
fn read_whole(files: &[(&str, &str)]) -> MarketData {
    let (data, rejections) = read(folder(files).path()).unwrap();
    assert_eq!(rejections, Rejections::default());
    data
}

/// The messages about rejected rows, without the folder's own path.
fn complaints(files: &[(&str, &str)]) -> Vec<String> {
    let dir = folder(files);
    let (_, rejections) = read(dir.path()).unwrap();
    let prefix = format!("{}/", dir.path().display());
    let messages = rejections.first.iter().map(ToString::to_string);
    messages.map(|text| text.replace(&prefix, "")).collect()
}

/// The daily closes of `symbol`, as `day=close`.
fn closes(data: &MarketData, symbol: &str) -> Vec<String> {
    let bars = &data.bars[&symbol.parse().unwrap()];
    let day = |bar: &market::Bar| format!("{}={}", bar.date, bar.close);
    bars.daily.iter().map(day).collect()
}

#[test]
fn optional_columns_of_stocks_and_fundamentals_are_read() {
    let data = read_whole(&[
        (
            "stocks.csv",
            "symbol,name,type,sector,industry,country,exchange,isin,is_active\n\
             KO,Coca-Cola,stock,Staples,Beverages,US,NYSE,US1912161007,true\nOLD,Old,,,,,,,False\n",
        ),
        (
            "fundamentals.csv",
            "symbol,as_of,eps_ttm,market_cap,dividend_yield,dividend_amount,beta\nKO,2024-02-20,2.47,2.6e11,3.1,1.94,-0.1\n",
        ),
    ]);
    let [coke, old] = &data.stocks[..] else {
        panic!("{:?}", data.stocks);
    };
    let found = [
        &coke.kind,
        &coke.sector,
        &coke.industry,
        &coke.country,
        &coke.exchange,
        &coke.isin,
    ];
    let found: Vec<_> = found.into_iter().flatten().collect();
    assert_eq!(found, ["stock", "Staples", "Beverages", "US", "NYSE", "US1912161007"]);
    assert!(coke.is_active && !old.is_active);
    assert_eq!((&old.kind, &old.isin), (&None, &None));
    let figures = data.fundamentals[0];
    let figures = [
        figures.market_cap,
        figures.dividend_yield,
        figures.dividend_amount,
        figures.beta,
    ];
    assert_eq!(
        figures.map(|figure| figure.unwrap().to_string()),
        ["260000000000", "3.1", "1.94", "-0.1"]
    );
    assert_eq!(
        complaints(&[("stocks.csv", "symbol,name,is_active\nKO,Coca-Cola,perhaps\n")]),
        ["stocks.csv:2: is_active \"perhaps\" is not known; write true or false"]
    );
}

#[test]
fn market_cap_that_is_too_large_is_dropped_from_its_row() {
    let data = read_whole(&[(
        "fundamentals.csv",
        "symbol,as_of,eps_ttm,market_cap\nA,2024-02-20,2.5,9000000000000\nB,2024-02-20,3.5,9.3e12\n",
    )]);
    let caps: Vec<_> = data
        .fundamentals
        .iter()
        .map(|row| (row.eps_ttm, row.market_cap))
        .collect();
    assert_eq!(
        caps,
        [
            ("2.5".parse().ok(), "9000000000000".parse().ok()),
            ("3.5".parse().ok(), None)
        ]
    );
}

#[test]
fn every_table_is_read_plain_and_compressed() {
    let tables = [
        ("bars/daily.csv", format!("{DAILY}AAPL,2024-03-07,1,2,1,2,100.0\n")),
        ("bars/minutes.csv", format!("{INTRADAY}AAPL,2024-03-07T10:00:00-05:00,1,2,1,2,\n")),
        ("splits.csv", "symbol,date,ratio\nAAPL,2020-08-31,4.0\n".into()),
        ("dividends.csv", "symbol,ex_date,payment_date,amount\nKO,2024-03-14,,0.485\n".into()),
        ("earnings.csv", "symbol,date,time,eps_estimate\nKO,2024-04-30,Before_Open,0.7\nKO,2024-07-23,,\n".into()),
        ("fundamentals.csv", "symbol,as_of,eps_ttm\nKO,2024-02-20,-1.5\n".into()),
        ("insiders.csv", "symbol,filed_on,traded_on,insider,code,side,shares,price\nKO,2024-03-05,2024-03-01,\"Doe, Jane\",p,BUY,10.5,0\n".into()),
        ("mentions.csv", "symbol,time,mentions\nKO,2024-03-07T21:00:00Z,457\n".into()),
        ("stocks.csv", "symbol,name,sector,employees\nKO,Coca-Cola,,79000\n".into()),
    ];
    let plain = tables.each_ref().map(|(name, text)| (*name, text.as_str()));
    let names = tables.each_ref().map(|(name, _)| format!("{name}.gz"));
    let mut compressed = plain;
    for (entry, name) in compressed.iter_mut().zip(&names) {
        entry.0 = name;
    }
    let data = read_whole(&plain);
    assert_eq!(read_whole(&compressed), data);

    let apple = &data.bars[&"AAPL".parse().unwrap()];
    assert_eq!(apple.daily[0].volume, 100);
    assert_eq!(apple.intraday[0].time.to_string(), "2024-03-07T15:00:00Z");
    assert_eq!(apple.intraday[0].volume, 0);
    assert_eq!(data.splits[0].ratio.to_string(), "4");
    assert_eq!(data.dividends[0].payment_date, None);
    assert_eq!(data.dividends[0].amount.unwrap().to_string(), "0.485");
    assert_eq!(data.earnings[0].time, EarningsTime::BeforeOpen);
    assert_eq!(data.earnings[1].time, EarningsTime::Unknown);
    assert_eq!(data.earnings[1].eps_estimate, None);
    assert_eq!(data.fundamentals[0].eps_ttm.unwrap().to_string(), "-1.5");
    assert_eq!(data.fundamentals[0].eps_forward, None);
    assert_eq!(data.insiders[0].insider, "Doe, Jane");
    assert_eq!(
        (data.insiders[0].code, data.insiders[0].side),
        ('P', TransactionSide::Buy)
    );
    assert_eq!(data.mentions[0].mentions, 457);
    assert_eq!(data.stocks[0].sector, None);
}

#[test]
fn optional_columns_may_be_missing() {
    let data = read_whole(&[
        ("dividends.csv", "ex_date,symbol\n2024-03-14,KO\n"),
        ("earnings.csv", "date,symbol\n2024-04-30,KO\n"),
        ("fundamentals.csv", "symbol,as_of,eps_forward\nKO,2024-02-20,2\n"),
        (
            "insiders.csv",
            "symbol,filed_on,insider,code,side,shares,price\nKO,2024-03-05,Doe,S,sell,1,2\n",
        ),
        ("stocks.csv", "symbol,name\nKO,Coca-Cola\n"),
    ]);
    assert_eq!(data.dividends[0].amount, None);
    assert_eq!(data.earnings[0].time, EarningsTime::Unknown);
    assert_eq!(data.fundamentals[0].eps_ttm, None);
    assert_eq!(data.insiders[0].traded_on, None);
}

#[test]
fn last_row_for_a_day_is_used_across_files() {
    let data = read_whole(&[
        (
            "bars/b.csv.gz",
            &format!("{DAILY}KO,2024-03-06,7,7,7,7,1\nKO,2024-03-08,8,8,8,8,1\n"),
        ),
        (
            "bars/a.csv",
            &format!("{DAILY}KO,2024-03-07,1,1,1,1,1\nKO,2024-03-06,2,2,2,2,1\nKO,2024-03-07,3,3,3,3,1\n"),
        ),
        (
            "splits.csv",
            "symbol,date,ratio\nKO,2024-03-07,2\nKO,2024-03-06,5\nKO,2024-03-07,3\n",
        ),
    ]);
    assert_eq!(closes(&data, "KO"), ["2024-03-06=7", "2024-03-07=3", "2024-03-08=8"]);
    let splits: Vec<_> = data
        .splits
        .iter()
        .map(|row| (row.date, row.ratio.to_string()))
        .collect();
    assert_eq!(
        splits,
        [(date(2024, 3, 6), "5".to_owned()), (date(2024, 3, 7), "3".to_owned())]
    );
}

#[test]
fn two_dividends_on_one_day_are_both_kept() {
    let data = read_whole(&[(
        "dividends.csv",
        "symbol,ex_date,amount\nKO,2024-03-14,2\nKO,2024-03-13,3\nKO,2024-03-14,1\n",
    )]);
    let amounts: Vec<_> = data
        .dividends
        .iter()
        .map(|row| row.amount.unwrap().to_string())
        .collect();
    assert_eq!(amounts, ["3", "2", "1"]);
}

#[test]
fn invalid_bar_is_reported_with_its_line() {
    let rows = "KO,2024-03-04,1,2,1,2,1\n\
        K O,2024-03-05,1,2,1,2,1\n\
        KO,03/05/2024,1,2,1,2,1\n\
        KO,2024-03-05,1,2,1,NaN,1\n\
        KO,2024-03-05,1,1,2,1,1\n\
        KO,2024-03-05,3,2,1,2,1\n\
        KO,2024-03-05,1,2,1,2,1.5\n\
        KO,2024-03-05,1,2,1,2,-1\n\
        KO,2024-03-05,1,2,1,2\n\
        KO,2024-03-06,1,2,1,2,1\n";
    let files = [("bars/x.csv.gz", &*format!("{DAILY}{rows}"))];
    assert_eq!(
        complaints(&files),
        [
            "bars/x.csv.gz:3: symbol \"K O\" is not a ticker: a symbol consists of A-Z, 0-9, '.' and '-', but not ' '",
            "bars/x.csv.gz:4: date \"03/05/2024\" is not a date; write it like 2024-03-08",
            "bars/x.csv.gz:5: close \"NaN\" is not a number; write it like 198.66",
            "bars/x.csv.gz:6: high 1 is below low 2; are the columns in order?",
            "bars/x.csv.gz:7: open 3 lies outside low 1 to high 2; correct the row at its source",
            "bars/x.csv.gz:8: volume \"1.5\" is not a whole number; write it without decimals",
            "bars/x.csv.gz:9: volume -1 is out of range; it is the session's shares, 0 to 1000000000000000",
            "bars/x.csv.gz:10: has 6 fields, but the header row has 7; write one field for each column",
        ]
    );
    let (data, _) = read(folder(&files).path()).unwrap();
    assert_eq!(closes(&data, "KO"), ["2024-03-04=2", "2024-03-06=2"]);
}

#[test]
fn bar_on_a_closed_day_is_rejected() {
    // The second intraday bar is on Saturday in London but on Friday in New York.
    let files = [
        (
            "bars/daily.csv",
            &*format!("{DAILY}KO,2024-03-29,1,2,1,2,1\nKO,2024-03-28,1,2,1,2,1\n"),
        ),
        (
            "bars/minutes.csv",
            &*format!("{INTRADAY}KO,2024-03-09T15:00:00Z,1,2,1,2,1\nKO,2024-03-09T00:30:00Z,1,2,1,2,1\n"),
        ),
    ];
    assert_eq!(
        complaints(&files),
        [
            "bars/daily.csv:2: there was no session on 2024-03-29, closed for Good Friday; remove the row or correct its date",
            "bars/minutes.csv:2: there was no session on 2024-03-09, closed for the weekend; remove the row or correct its date",
        ]
    );
    let always_open = Calendar::nyse().always_open();
    let (data, rejections) = folder::read(folder(&files).path(), &always_open, |_| {}).unwrap();
    assert_eq!(rejections.count, 0);
    assert_eq!(
        data.bars
            .values()
            .map(|bars| bars.daily.len() + bars.intraday.len())
            .sum::<usize>(),
        4
    );
}

#[test]
fn symbol_with_only_invalid_bars_has_no_bars() {
    let text = format!("{DAILY}KO,2024-03-09,1,2,1,2,1\nPEP,2024-03-08,0,2,1,2,1\n");
    let (data, _) = read(folder(&[("bars/x.csv", &text)]).path()).unwrap();
    assert!(data.bars.is_empty());
}

#[test]
fn invalid_rows_of_other_tables_are_reported_with_their_line() {
    assert_eq!(
        complaints(&[
            ("splits.csv", "symbol,date,ratio\nKO,2024-03-08,0\n"),
            ("dividends.csv", "symbol,ex_date,amount\nKO,2024-03-08,-1\n"),
            ("earnings.csv", "symbol,date,time\nKO,2024-03-08,noon\n"),
            (
                "insiders.csv",
                "symbol,filed_on,insider,code,side,shares,price\nKO,2024-03-05,,S,sell,1,2\nKO,2024-03-05,D,S,hold,1,2\n"
            ),
            ("mentions.csv", "symbol,time,mentions\nKO,2024-03-08,1\n"),
        ]),
        [
            "splits.csv:2: ratio \"0\" is out of range; a split ratio is new shares per old share, 0.0001 to 10000",
            "dividends.csv:2: amount \"-1\" is below zero; write 0 or more",
            "earnings.csv:2: time \"noon\" is not known; write before_open, after_close or unknown",
            "insiders.csv:2: insider \"\" is empty; write a value",
            "insiders.csv:3: side \"hold\" is not known; write buy or sell",
            "mentions.csv:2: time \"2024-03-08\" is not a time; write it like 2024-03-08T14:30:00Z or 2024-03-08T09:30:00-05:00",
        ]
    );
}

#[test]
fn progress_reaches_the_total() {
    let long = "KO,2024-03-08,2\n".repeat(MAX_ROW_BYTES / 4);
    let dir = folder(&[
        ("splits.csv", &format!("symbol,date,ratio\n{long}")),
        ("stocks.csv.gz", "symbol,name\nKO,Coca-Cola\n"),
    ]);
    let mut seen = Vec::new();
    folder::read(dir.path(), &Calendar::nyse(), |progress| {
        seen.push((progress.file.to_owned(), progress.bytes_read, progress.bytes_total));
    })
    .unwrap();
    assert!(seen.len() > 4);
    assert!(seen.is_sorted_by_key(|(_, bytes_read, _)| *bytes_read));
    let (file, bytes_read, bytes_total) = seen.pop().unwrap();
    assert!(file.ends_with("stocks.csv.gz"));
    assert_eq!(bytes_read, bytes_total);
}
