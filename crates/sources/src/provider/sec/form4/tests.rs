use super::*;
use proptest::prelude::*;

/// Returns a filing with the given parts.
fn xml(kind: &str, head: &str, owner: &str, rows: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><ownershipDocument><schemaVersion>X0508</schemaVersion>\
         <documentType>{kind}</documentType><periodOfReport>2024-03-06-05:00</periodOfReport>{head}\
         <issuer><issuerCik>0000320193</issuerCik><issuerName>Apple &amp; Co.</issuerName>\
         <issuerTradingSymbol>AAPL</issuerTradingSymbol></issuer>\
         <reportingOwner><reportingOwnerId><rptOwnerCik>0001214156</rptOwnerCik>\
         <rptOwnerName>{owner}</rptOwnerName></reportingOwnerId></reportingOwner>\
         <nonDerivativeTable>{rows}</nonDerivativeTable></ownershipDocument>"
    )
}

fn row(code: &str, shares: &str, price: &str, acquired_or_disposed: &str) -> String {
    format!(
        "<nonDerivativeTransaction><transactionDate><value>2024-03-06</value></transactionDate>\
         <transactionCoding><transactionCode>{code}</transactionCode></transactionCoding><transactionAmounts>\
         <transactionShares><value>{shares}</value><footnoteId id=\"F1\"/></transactionShares>\
         <transactionPricePerShare>{price}</transactionPricePerShare>\
         <transactionAcquiredDisposedCode><value>{acquired_or_disposed}</value></transactionAcquiredDisposedCode>\
         </transactionAmounts></nonDerivativeTransaction>"
    )
}

fn one(code: &str, acquired_or_disposed: &str) -> Form4Transaction {
    let rows = row(code, "100", "<value>171.25</value>", acquired_or_disposed);
    Filing::read(&xml("4", "", "A", &rows)).unwrap().trades[0]
}

#[test]
fn parses_a_sale_with_its_exact_price() {
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
        ("O'Brien & Sons", 'S', TransactionSide::Sell)
    );
    assert_eq!(
        (rows[0].shares.to_string(), rows[0].price.to_string()),
        ("100.5".into(), "171.256".into())
    );
    assert_eq!(
        (filing.period, rows[0].traded_on),
        ("2024-03-06".parse().ok(), "2024-03-06".parse().ok())
    );
}

#[test]
fn purchase_and_sale_codes_override_the_column() {
    assert_eq!(one("P", "D").side, TransactionSide::Buy);
    assert_eq!(one("S", "A").side, TransactionSide::Sell);
}

#[test]
fn other_codes_use_the_column() {
    assert_eq!(
        (one("A", "A").side, one("F", "D").side),
        (TransactionSide::Buy, TransactionSide::Sell)
    );
}

#[test]
fn price_in_a_footnote_is_zero() {
    let filing = Filing::read(&xml("4", "", "A", &row("J", "5", "<footnoteId id=\"F1\"/>", "A"))).unwrap();
    assert_eq!(filing.trades[0].price, Decimal::ZERO);
}

#[test]
fn invalid_row_is_skipped() {
    let rows = row("P", "many", "<value>1</value>", "A") + &row("P", "5", "<value>1</value>", "A");
    let filing = Filing::read(&xml("4", "", "A", &rows)).unwrap();
    assert_eq!((filing.trades.len(), filing.invalid_rows.len()), (1, 1));
}

#[test]
fn rejects_other_forms_and_truncated_files() {
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
fn extracts_the_form_from_its_envelope() {
    let wrapped = format!(
        "<SEC-DOCUMENT>0001.txt\n<TYPE>4\n<XML>\n{}\n</XML>\n</SEC-DOCUMENT>",
        xml("4", "", "A", "")
    );
    assert_eq!(Filing::read(&wrapped).unwrap().symbol, "AAPL".parse().ok());
}

#[test]
fn amendment_replaces_only_the_amended_filing() {
    let on = |date: &str, text: String| (date.parse::<Date>().unwrap(), Filing::read(&text).unwrap());
    let original = on(
        "2024-03-08",
        xml("4", "", "A", &row("P", "100", "<value>1</value>", "A")),
    );
    let other_owner = on("2024-03-08", xml("4", "", "A", "").replace("0001214156", "0001214157"));
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
    let all = vec![original.clone(), other_owner.clone(), amended.clone(), again.clone()];
    let amended_filings = apply_amendments(all);
    assert_eq!(amended_filings.current, [other_owner, again.clone()]);
    assert_eq!(
        amended_filings.replaced,
        [(original.clone(), amended.0), (amended, again.0)]
    );
    assert_eq!(apply_amendments(vec![original, other_day]).current.len(), 2);
}

#[test]
fn parses_tickers_as_filers_write_them() {
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
    fn damaged_filing_does_not_panic(
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
