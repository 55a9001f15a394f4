use super::*;
use proptest::prelude::*;

/// A filing with one trade, with parts put in.
fn xml(kind: &str, head: &str, owner: &str, rows: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><ownershipDocument><schemaVersion>X0508</schemaVersion>\
         <documentType>{kind}</documentType><periodOfReport>2024-03-06-05:00</periodOfReport>{head}\
         <issuer><issuerCik>0000320193</issuerCik><issuerName>Apple &amp; Co.</issuerName>\
         <issuerTradingSymbol>AAPL</issuerTradingSymbol></issuer>\
         <reportingOwner><reportingOwnerId><rptOwnerCik>0001214156</rptOwnerCik>\
         <rptOwnerName>{owner}</rptOwnerName></reportingOwnerId><reportingOwnerRelationship>\
         <isDirector>0</isDirector><isOfficer>true</isOfficer></reportingOwnerRelationship></reportingOwner>\
         <nonDerivativeTable>{rows}</nonDerivativeTable></ownershipDocument>"
    )
}

fn row(code: &str, shares: &str, price: &str, came_or_went: &str) -> String {
    format!(
        "<nonDerivativeTransaction><transactionDate><value>2024-03-06</value></transactionDate>\
         <transactionCoding><transactionCode>{code}</transactionCode></transactionCoding><transactionAmounts>\
         <transactionShares><value>{shares}</value><footnoteId id=\"F1\"/></transactionShares>\
         <transactionPricePerShare>{price}</transactionPricePerShare>\
         <transactionAcquiredDisposedCode><value>{came_or_went}</value></transactionAcquiredDisposedCode>\
         </transactionAmounts></nonDerivativeTransaction>"
    )
}

fn one(code: &str, came_or_went: &str) -> Trade {
    let rows = row(code, "100", "<value>171.25</value>", came_or_went);
    Filing::read(&xml("4", "", "A", &rows)).unwrap().trades[0]
}

#[test]
fn a_sale_is_read_with_its_exact_price() {
    let filing = Filing::read(&xml(
        "4",
        "",
        "O&apos;Brien &#38; Sons",
        &row("S", "100.5", "<value>171.256</value>", "D"),
    ));
    let filing = filing.unwrap();
    let rows = filing.rows("AAPL".parse().unwrap(), "2024-03-08".parse().unwrap());
    assert_eq!(
        (rows[0].insider.as_str(), rows[0].code, rows[0].side),
        ("O'Brien & Sons", 'S', Side::Sell)
    );
    assert_eq!(
        (rows[0].shares.to_string(), rows[0].price.to_string()),
        ("100.5".into(), "171.256".into())
    );
    assert_eq!(
        (filing.period, rows[0].traded_on),
        ("2024-03-06".parse().ok(), "2024-03-06".parse().ok())
    );
    assert!(filing.owners[0].is_officer && !filing.owners[0].is_director);
}

#[test]
fn a_purchase_is_one_whatever_the_column_says() {
    assert_eq!(one("P", "D").side, Side::Buy);
    assert_eq!(one("S", "A").side, Side::Sell);
}

#[test]
fn of_other_codes_the_column_tells() {
    assert_eq!((one("A", "A").side, one("F", "D").side), (Side::Buy, Side::Sell));
}

#[test]
fn a_price_in_a_footnote_only_is_zero() {
    let filing = Filing::read(&xml("4", "", "A", &row("J", "5", "<footnoteId id=\"F1\"/>", "A"))).unwrap();
    assert_eq!(filing.trades[0].price, Decimal::ZERO);
}

#[test]
fn a_row_that_makes_no_sense_costs_that_row() {
    let rows = row("P", "many", "<value>1</value>", "A") + &row("P", "5", "<value>1</value>", "A");
    let filing = Filing::read(&xml("4", "", "A", &rows)).unwrap();
    assert_eq!((filing.trades.len(), filing.faults.len()), (1, 1));
}

#[test]
fn a_form_of_another_kind_or_cut_off_is_refused() {
    assert_eq!(
        Filing::read(&xml("3", "", "A", "")),
        Err(Form4Error::OtherForm("3".into()))
    );
    assert_eq!(Filing::read("<html/>"), Err(Form4Error::NoDocument));
    let whole = xml("4", "", "A", "");
    assert!(matches!(
        Filing::read(&whole[..whole.len() - 30]),
        Err(Form4Error::NotXml(_))
    ));
}

#[test]
fn an_envelope_around_the_form_is_opened() {
    let wrapped = format!(
        "<SEC-DOCUMENT>0001.txt\n<TYPE>4\n<XML>\n{}\n</XML>\n</SEC-DOCUMENT>",
        xml("4", "", "A", "")
    );
    assert_eq!(Filing::read(&wrapped).unwrap().symbol, "AAPL".parse().ok());
}

#[test]
fn an_amendment_replaces_what_it_corrects_and_nothing_else() {
    let on = |date: &str, text: String| (date.parse::<Date>().unwrap(), Filing::read(&text).unwrap());
    let original = on(
        "2024-03-08",
        xml("4", "", "A", &row("P", "100", "<value>1</value>", "A")),
    );
    let stranger = on("2024-03-08", xml("4", "", "A", "").replace("0001214156", "0001214157"));
    let date = "<dateOfOriginalSubmission>2024-03-08</dateOfOriginalSubmission>";
    let amended = on(
        "2024-03-11",
        xml("4/A", date, "A", &row("P", "10", "<value>1</value>", "A")),
    );
    let again = on(
        "2024-03-12",
        xml("4/A", date, "A", &row("P", "11", "<value>1</value>", "A")),
    );
    let other_day = on("2024-03-11", xml("4/A", &date.replace("08", "07"), "A", ""));
    let all = vec![original.clone(), stranger.clone(), amended.clone(), again.clone()];
    let told = replace_amended(all);
    assert_eq!(told.standing, [stranger, again.clone()]);
    assert_eq!(told.replaced, [(original.clone(), amended.0), (amended, again.0)]);
    assert_eq!(replace_amended(vec![original, other_day]).standing.len(), 2);
}

#[test]
fn filers_write_tickers_in_many_ways() {
    for (text, expected) in [
        ("AAPL", Some("AAPL")),
        ("NYSE: BRK.B", Some("BRK.B")),
        ("BRK-B", Some("BRK.B")),
        ("goog, googl", Some("GOOG")),
        ("NONE", None),
        ("N/A", None),
        ("", None),
    ] {
        let filing = Filing::read(&xml("4", "", "A", "").replace(">AAPL<", &format!(">{text}<"))).unwrap();
        assert_eq!(
            filing.symbol.map(|symbol| symbol.to_string()).as_deref(),
            expected,
            "{text}"
        );
    }
}

proptest! {
    #[test]
    fn a_damaged_filing_is_read_or_refused_without_a_panic(
        at in 0_usize..900,
        cut in 0_usize..40,
        put in "[<>/&;a-z0-9 \"=!-]{0,12}|<!\\[CDATA\\[|&#x[0-9a-f]{0,9};|<!DOCTYPE a \\[",
    ) {
        let whole = xml("4", "", "A", &row("P", "100", "<value>1.5</value>", "A"));
        let (start, end) = (at.min(whole.len()), (at + cut).min(whole.len()));
        let damaged = format!("{}{put}{}", &whole[..start], &whole[end..]);
        let _ = Filing::read(&damaged);
    }
}
