//! `bellwether://guide/conditions`

use std::sync::LazyLock;

use alerts::expression::metric::METRICS;

use crate::document::alert_body::guide;

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let metrics: Vec<String> = METRICS.iter().map(|metric| format!("`{}`", metric.usage())).collect();
    format!(
        "# Alert conditions\n\n\
         create_alert takes `symbol`, `condition` and, depending on the condition, `threshold` and `parameters`. Each line \
         has the arguments of an example. Prices are US dollars, 5 means 5 %. Price, technical, volume and fundamental \
         conditions are evaluated while the US stock market is open. Technical, volume, fundamental, dividend and alternative \
         data conditions need the premium or early_bird plan.\n\n{}\n\n\
         # Expressions\n\n\
         `parameters.when` compares metrics with numbers, metrics and arithmetic (+ - * /): `<`, `<=`, `>`, `>=`, `between a and b`, \
         `crosses above`, `crosses below`, `crosses`; comparisons are joined by `and`, `or`, `not` and parentheses. A metric of \
         another stock has its symbol: `SPY.price`. `parameters.within` lets a crossing count for a time. The metrics: {}.\n\n\
         # Options\n\n\
         `options` of create_alert and update_alert, all optional: `repeat` (once, each_time, once_per_day), `cooldown` (15m, 2h, \
         5d), `cooldown_refire`, `rearm` ({{\"at\": level}} or {{\"percent\": p}}), `hold` (session time), `expires_at`, \
         `notify_on_expiry`, `snoozed_until`, `trigger` (last, two_lasts), `base` (creation, prev_close, open), `max_firings`.\n",
        guide::conditions(),
        metrics.join(", ")
    )
});

/// Returns the guide as Markdown.
pub(in crate::mcp) fn text() -> &'static str {
    &TEXT
}
