//! When the data of a folder becomes known.

use std::fs::File;

use market::Calendar;
use sources::MarketUpdate;
use sources::file::{FileSourceHealth, FolderFollower};

use crate::file::{DAILY, Fixture, INTRADAY, all, at, bars, config, quotes, splits, with_splits};
use crate::folders::folder;

#[test]
fn history_comes_first_in_order() {
    let (fixture, past) = Fixture::open(
        &[
            ("stocks.csv", "symbol,name\nA,Alpha\n"),
            (
                "bars/x.csv",
                &format!("{DAILY}A,2024-03-07,1,1,1,1,1\nA,2024-03-06,2,2,2,2,1\nA,2024-03-05,3,3,3,3,1\n"),
            ),
            ("splits.csv", "symbol,date,ratio\nA,2024-03-06,2\n"),
            ("fundamentals.csv", "symbol,as_of,eps_ttm\nA,2024-03-07,1\n"),
            (
                "insiders.csv",
                "symbol,filed_on,insider,code,side,shares,price\nA,2024-03-07,X,P,buy,1,1\n",
            ),
            ("mentions.csv", "symbol,time,mentions\nA,2024-03-07T22:00:00Z,5\n"),
            ("earnings.csv", "symbol,date\nA,2024-05-02\n"),
            ("dividends.csv", "symbol,ex_date\nA,2024-02-09\nA,2024-05-10\n"),
        ],
        "2024-03-08T16:00:00Z",
    );
    assert!(past.iter().all(|update| update.backfill));
    let found: Vec<_> = past
        .iter()
        .map(|MarketUpdate { at, batch, .. }| {
            let dates: Vec<_> = batch.dividends.iter().map(|row| row.ex_date.to_string()).collect();
            let counts = [
                ("stock", batch.stocks.len()),
                ("bar", batch.bars.len()),
                ("split", batch.splits.len()),
                ("figure", batch.fundamentals.len()),
                ("trade", batch.insider_transactions.len()),
                ("mention", batch.mentions.len()),
                ("report", batch.earnings.len()),
            ];
            let kinds = counts
                .iter()
                .filter(|(_, count)| *count > 0)
                .map(|(kind, _)| (*kind).to_owned());
            format!("{at} {}", kinds.chain(dates).collect::<Vec<_>>().join(" "))
        })
        .collect();
    assert_eq!(
        found,
        [
            "2024-02-09T05:00:00Z stock",
            "2024-02-09T05:00:00Z 2024-02-09",
            "2024-03-05T21:00:00Z bar",
            "2024-03-06T05:00:00Z split",
            "2024-03-06T21:00:00Z bar",
            "2024-03-07T05:00:00Z figure",
            "2024-03-07T14:30:00Z trade",
            "2024-03-07T21:00:00Z bar",
            "2024-03-07T22:00:00Z mention",
            "2024-03-08T16:00:00Z report 2024-05-10",
        ]
    );
    assert_eq!(fixture.follower.health().offer.feeds().missing().count(), 0);
}

#[test]
fn daily_bar_is_a_quote_until_its_session_is_over() {
    let (mut fixture, past) = Fixture::open(
        &[(
            "bars/x.csv",
            &format!("{DAILY}A,2024-03-07,1,1,1,1,1\nA,2024-03-08,2,3,2,2.5,100\n"),
        )],
        "2024-03-08T20:59:00Z",
    );
    assert_eq!(bars(past.clone()), ["A 2024-03-07 1"]);
    assert_eq!(quotes(past), ["A 2.5 100 2024-03-08T20:59:00Z"]);
    fixture.replace(
        "bars/x.csv",
        format!("{DAILY}A,2024-03-07,1,1,1,1,1\nA,2024-03-08,2,3,2,2.75,120\n"),
    );
    let seen = fixture.poll();
    assert!(bars(seen.clone()).is_empty());
    assert_eq!(quotes(seen), ["A 2.75 120 2024-03-08T20:59:01Z"]);
    assert!(fixture.later(58).is_empty(), "a second before the close");
    let closed = fixture.later(10);
    assert_eq!(closed[0].at, at("2024-03-08T21:00:00Z"));
    assert_eq!(bars(closed), ["A 2024-03-08 2.75"]);
}

#[test]
fn intraday_bars_are_quotes_and_combine_to_a_daily_bar() {
    let row = |time: &str, close: &str| format!("A,2024-03-08T{time}:00Z,2,3,1,{close},10\n");
    let yesterday = "A,2024-03-07T15:00:00Z,5,6,4,5,7\nA,2024-03-07T14:00:00Z,9,9,9,9,9\n";
    let text = format!("{INTRADAY}{yesterday}{}{}", row("14:30", "2"), row("14:31", "2.5"));
    let (mut fixture, past) = Fixture::open(&[("bars/x.csv", &text)], "2024-03-08T14:31:30Z");
    assert_eq!(
        bars(past.clone()),
        ["A 2024-03-07 5"],
        "what was before the open is no part of the session"
    );
    assert_eq!(
        quotes(past),
        ["A 2 10 2024-03-08T14:30:00Z", "A 2.5 20 2024-03-08T14:31:00Z"]
    );
    fixture.append("bars/x.csv", &(row("14:32", "1.5") + &row("14:33", "1.75")));
    assert!(fixture.poll().is_empty(), "not before its time");
    fixture.now = at("2024-03-08T14:32:00Z");
    let seen = fixture.later(0);
    assert_eq!(quotes(seen), ["A 1.5 30 2024-03-08T14:32:00Z"]);
    assert_eq!(quotes(fixture.later(60)), ["A 1.75 40 2024-03-08T14:33:00Z"]);
    fixture.now = at("2024-03-08T21:00:00Z");
    let bar = all(fixture.later(0)).bars[0].bar;
    assert_eq!(
        (bar.open.to_string(), bar.high.to_string(), bar.low.to_string()),
        ("2".into(), "3".into(), "1".into())
    );
    assert_eq!((bar.close.to_string(), bar.volume), ("1.75".into(), 40));
    // A late intraday bar corrects the daily bar; a daily bar in the folder takes precedence.
    fixture.append("bars/x.csv", &row("20:59", "2.25"));
    assert_eq!(bars(fixture.poll()), ["A 2024-03-08 2.25"]);
    fixture.replace("bars/daily.csv", format!("{DAILY}A,2024-03-08,2,3,1,2.2,50\n"));
    assert_eq!(bars(fixture.poll()), ["A 2024-03-08 2.2"]);
    fixture.append("bars/x.csv", &row("20:58", "1.1"));
    assert_eq!(bars(fixture.poll()), Vec::<String>::new());
}

#[test]
fn intraday_bars_are_sent_when_their_session_is_over() {
    let row = |time: &str, close: &str| format!("A,2024-03-08T{time}:00Z,2,3,1,{close},10\n");
    let text = format!("{INTRADAY}{}{}", row("14:30", "2"), row("14:31", "2.5"));
    let (mut fixture, past) = Fixture::open(&[("bars/x.csv", &text)], "2024-03-08T14:31:30Z");
    let sent = |updates| {
        let rows = all(updates).intraday_bars.into_iter();
        rows.map(|row| format!("{} {} {}", row.symbol, row.bar.time, row.bar.close))
            .collect::<Vec<_>>()
    };
    assert_eq!(sent(past), Vec::<String>::new());
    fixture.now = at("2024-03-08T21:00:01Z");
    assert_eq!(
        sent(fixture.later(0)),
        ["A 2024-03-08T14:30:00Z 2", "A 2024-03-08T14:31:00Z 2.5"]
    );
    assert_eq!(sent(fixture.poll()), Vec::<String>::new(), "once");
}

#[test]
fn intraday_bars_of_a_month_ago_are_not_sent() {
    let row = |day: &str| format!("A,2024-{day}T15:30:00Z,2,3,1,2,10\n");
    let text = format!("{INTRADAY}{}{}", row("02-06"), row("02-07"));
    let (_, past) = Fixture::open(&[("bars/x.csv", &text)], "2024-03-08T22:00:00Z");
    let sent = all(past);
    assert_eq!((sent.bars.len(), sent.intraday_bars.len()), (2, 1));
}

#[test]
fn future_row_waits_for_its_day() {
    let (mut fixture, past) = with_splits("symbol,date,ratio\nA,2024-03-11,2\n");
    assert!(past.is_empty());
    assert!(fixture.poll().is_empty());
    fixture.now = at("2024-03-11T04:00:05Z");
    let found = fixture.later(0);
    assert_eq!(found[0].at, at("2024-03-11T04:00:00Z"));
    assert_eq!(splits(found), ["2024-03-11 2"]);
}

#[test]
fn price_at_the_start_is_as_old_as_its_file() {
    let row = |name: &str, close: &str| format!("{DAILY}{name},2024-03-08,2,3,2,{close},100\n");
    let files = [
        ("bars/1.csv", row("OLD", "2.5"), "2024-03-08T14:35:00Z"),
        ("bars/2.csv", row("NEW", "2.6"), "2024-03-08T20:30:00Z"),
        // Of two rows for one day the last one is used.
        ("bars/3.csv", row("BOTH", "2.7"), "2024-03-08T20:20:00Z"),
        ("bars/4.csv", row("BOTH", "2.8"), "2024-03-08T20:10:00Z"),
    ];
    let dir = folder(&files.each_ref().map(|(name, text, _)| (*name, text.as_str())));
    for (name, _, written) in &files {
        let file = File::options().write(true).open(dir.path().join(name)).unwrap();
        file.set_modified(at(written).into()).unwrap();
    }
    let (_, past) = FolderFollower::open(
        &config(&dir),
        Calendar::nyse(),
        FileSourceHealth::default(),
        at("2024-03-08T20:31:00Z"),
    )
    .unwrap();
    assert_eq!(
        quotes(past),
        [
            "BOTH 2.8 100 2024-03-08T20:10:00Z",
            "NEW 2.6 100 2024-03-08T20:30:00Z",
            "OLD 2.5 100 2024-03-08T14:35:00Z",
        ]
    );
}
