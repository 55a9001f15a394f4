//! Plans as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::plan::{FieldChange, Plan, PlannedChange, PlannedKind};

/// The marks of changes, in colour or not.
#[derive(Clone, Copy)]
struct Style {
    is_coloured: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        match self.is_coloured {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    fn added(self, text: &str) -> String {
        self.paint("32", text)
    }

    fn removed(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn changed(self, text: &str) -> String {
        self.paint("33", text)
    }
}

/// Returns a plan as text for people, with or without colours.
#[must_use]
pub fn plan_as_text(plan: &Plan, is_coloured: bool) -> String {
    let style = Style { is_coloured };
    let mut text = String::new();
    for change in &plan.changes {
        write_change(&mut text, change, style);
    }
    for name in &plan.kept {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name}: in no file, and kept; --prune deletes it");
    }
    let count = |is_counted: fn(&PlannedKind) -> bool| {
        let changes = plan.changes.iter().filter(|change| is_counted(&change.kind));
        changes.count()
    };
    let _ = writeln!(
        text,
        "{}: {} to create, {} to change, {} to replace, {} to delete, {} unchanged",
        printable(&plan.source),
        count(|kind| matches!(kind, PlannedKind::Create { .. })),
        count(|kind| matches!(kind, PlannedKind::Update { .. })),
        count(|kind| matches!(kind, PlannedKind::Replace { .. })),
        count(|kind| matches!(kind, PlannedKind::Delete { .. })),
        plan.unchanged
    );
    text
}

fn write_change(text: &mut String, change: &PlannedChange, style: Style) {
    let title = format!("{} ({})", printable(&change.name), printable(&change.stocks));
    let place = change
        .place
        .as_ref()
        .map(|place| format!("  {place}"))
        .unwrap_or_default();
    let (title, fields): (String, &[FieldChange]) = match &change.kind {
        PlannedKind::Create { fields, .. } => (style.added(&format!("+ {title}")), fields),
        PlannedKind::Update {
            fields, former_name, ..
        } => {
            let former = former_name
                .as_ref()
                .map(|name| format!(", until now {}", printable(name)));
            (
                style.changed(&format!("~ {title}{}", former.unwrap_or_default())),
                fields,
            )
        }
        PlannedKind::Replace { fields, .. } => {
            let title = format!("± {title}: deleted and created again, since the stock of an alert cannot change");
            (style.changed(&title), fields)
        }
        PlannedKind::Delete { .. } => (style.removed(&format!("- {title}")), &[]),
    };
    let _ = writeln!(text, "{title}{place}");
    for FieldChange { field, before, after } in fields {
        if !before.is_null() {
            let _ = writeln!(text, "    {}", style.removed(&format!("- {field}: {}", shown(before))));
        }
        if !after.is_null() {
            let _ = writeln!(text, "    {}", style.added(&format!("+ {field}: {}", shown(after))));
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        other => printable(&other.to_string()),
    }
}

/// Returns a text without control characters, which could change what a terminal shows.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => printable.push_str("\\n"),
            character if character.is_control() => drop(write!(printable, "{}", character.escape_default())),
            character => printable.push(character),
        }
    }
    printable
}

/// Returns a plan as JSON for programs.
#[must_use]
pub fn plan_as_json(plan: &Plan) -> Value {
    let changes = plan.changes.iter().map(|change| {
        let (action, id, fields) = match &change.kind {
            PlannedKind::Create { fields, .. } => ("create", None, fields.as_slice()),
            PlannedKind::Update { id, fields, .. } => ("update", Some(id), fields.as_slice()),
            PlannedKind::Replace { id, fields, .. } => ("replace", Some(id), fields.as_slice()),
            PlannedKind::Delete { id } => ("delete", Some(id), &[][..]),
        };
        let fields = fields
            .iter()
            .map(|FieldChange { field, before, after }| json!({"field": field, "before": before, "after": after}));
        let mut value = json!({
            "action": action,
            "name": change.name,
            "stocks": change.stocks,
            "place": change.place,
            "id": id,
            "fields": fields.collect::<Vec<_>>(),
        });
        if let PlannedKind::Update {
            former_name: Some(name),
            ..
        } = &change.kind
        {
            value["former_name"] = name.as_str().into();
        }
        value
    });
    json!({
        "source": plan.source,
        "changes": changes.collect::<Vec<_>>(),
        "unchanged": plan.unchanged,
        "kept": plan.kept,
    })
}
