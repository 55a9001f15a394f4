//! Parser of Finnhub's insider transactions and social sentiment.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use market::records::{InsiderRow, MentionRow, TransactionSide};
use market::{Decimal, Symbol};
use serde_json::value::RawValue;

use super::NAME;
use super::models::{DataList, InsiderTransaction, Sentiment};
use super::parse::symbols_of;
use crate::folder::text;
use crate::provider::json::{self, RowReader};
use crate::provider::requested_symbols::RequestedSymbols;
use crate::provider::{DataResponse, DateRange, InvalidRow, ProviderError};

pub(super) fn insiders(
    body: &[u8],
    requested: &RequestedSymbols,
    days: DateRange,
) -> Result<DataResponse, ProviderError> {
    let data: DataList<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    for element in data.data {
        for &symbol in symbols_of(requested) {
            let row = response
                .invalid_rows
                .keep_valid(insider(requested.first_name(), symbol, element))
                .flatten();
            response
                .batch
                .insider_transactions
                .extend(row.filter(|row| days.contains(row.filed_on)));
        }
    }
    Ok(response)
}

/// Parses an insider trade of shares; `None` for a trade of derivatives.
fn insider(name: &str, symbol: Symbol, element: &RawValue) -> Result<Option<InsiderRow>, InvalidRow> {
    let row = RowReader { label: name };
    let trade: InsiderTransaction<'_> = json::parse_element(name, element)?;
    if trade.is_derivative {
        return Ok(None);
    }
    let code = trade.transaction_code.as_deref().unwrap_or_default();
    let code = text::code(code).map_err(|problem| InvalidRow::new(name, "transactionCode", code, &problem))?;
    let change = row.optional_decimal(trade.change).unwrap_or_default();
    let side = match code {
        'P' => TransactionSide::Buy,
        'S' => TransactionSide::Sell,
        _ if change < Decimal::ZERO => TransactionSide::Sell,
        _ => TransactionSide::Buy,
    };
    Ok(Some(InsiderRow {
        symbol,
        filed_on: row.date("filingDate", trade.filing_date.as_deref())?,
        traded_on: trade
            .transaction_date
            .as_deref()
            .and_then(|date| row.date("transactionDate", Some(date)).ok()),
        insider: trade.name.chars().filter(|c| !c.is_control()).take(200).collect(),
        code,
        side,
        shares: Decimal::from_micros(change.micros().saturating_abs()),
        price: row
            .optional_decimal(trade.transaction_price)
            .unwrap_or_default()
            .max(Decimal::ZERO),
    }))
}

pub(super) fn sentiment(body: &[u8], requested: &RequestedSymbols) -> Result<DataResponse, ProviderError> {
    let data: DataList<'_> = json::parse_body(NAME, body)?;
    let mut response = DataResponse::default();
    let mut hours: BTreeMap<Timestamp, u32> = BTreeMap::new();
    for element in data.data.iter().chain(&data.reddit).chain(&data.twitter) {
        if let Some((hour, mentions)) = response
            .invalid_rows
            .keep_valid(mentions(requested.first_name(), element))
        {
            let sum = hours.entry(hour).or_default();
            *sum = sum.saturating_add(mentions);
        }
    }
    for &symbol in symbols_of(requested) {
        let rows = hours
            .iter()
            .map(|(&time, &mentions)| MentionRow { symbol, time, mentions });
        response.batch.mentions.extend(rows);
    }
    Ok(response)
}

fn mentions(name: &str, element: &RawValue) -> Result<(Timestamp, u32), InvalidRow> {
    let row = RowReader { label: name };
    let hour: Sentiment<'_> = json::parse_element(name, element)?;
    let at = hour.at_time.as_deref().unwrap_or_default();
    let time = at
        .replace(' ', "T")
        .parse::<DateTime>()
        .ok()
        .and_then(|time| time.in_tz("UTC").ok());
    let time = time
        .ok_or_else(|| InvalidRow::with_message(name, "atTime", at, "is not a valid time"))?
        .timestamp();
    let mentions = row.integer("mention", hour.mention)?;
    let mentions =
        u32::try_from(mentions).map_err(|_| InvalidRow::with_message(name, "mention", "", "is not a valid count"))?;
    Ok((time, mentions))
}
