//! `bellwether://guide/conditions`

use std::sync::LazyLock;

use crate::document::alert_body::guide;

static TEXT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "# Alert conditions\n\n\
         create_alert takes `symbol`, `condition` and, depending on the condition, `threshold` and `parameters`. Each line \
         has the arguments of an example. Prices are US dollars, 5 means 5 %. Price, technical, volume and fundamental \
         conditions are evaluated while the US stock market is open. Technical, volume, fundamental, dividend and alternative \
         data conditions need the premium or early_bird plan.\n\n{}\n",
        guide::conditions()
    )
});

/// Returns the guide as Markdown.
pub(in crate::mcp) fn text() -> &'static str {
    &TEXT
}
