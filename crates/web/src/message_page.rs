//! Pages with a message and at most one small form, such as those behind emailed links.

use std::borrow::Cow;

use askama::Template;

use crate::filters;
use crate::layout::{PageHead, Shell};

/// A page with a message.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MessagePage {
    /// The heading.
    pub title: &'static str,
    /// The message.
    pub paragraphs: Vec<String>,
    /// The form.
    pub form: Option<MessageForm>,
    /// The links at the end: the next steps.
    pub links: Vec<PageLink>,
}

/// A link at the end of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageLink {
    /// A path of this service that begins with `/`, or a URL relative to the page.
    pub to: Cow<'static, str>,
    /// The text.
    pub label: Cow<'static, str>,
}

/// A form with one button, and at most one field.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MessageForm {
    /// Target relative to the page, so that it also works behind a proxy with a path prefix.
    pub action: Cow<'static, str>,
    /// Hidden fields.
    pub hidden: Vec<(&'static str, String)>,
    /// The field.
    pub field: Option<FormField>,
    /// The button.
    pub button: &'static str,
    /// Second button, which submits an additional form field.
    pub other: Option<OtherButton>,
}

/// The second button of a form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OtherButton {
    /// The name of its field.
    pub name: &'static str,
    /// The value of its field.
    pub value: &'static str,
    /// The text.
    pub label: &'static str,
}

/// An input field of a form.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FormField {
    /// The name.
    pub name: &'static str,
    /// The label.
    pub label: &'static str,
    /// The type of input.
    pub kind: &'static str,
    /// The value of `autocomplete`.
    pub autocomplete: &'static str,
    /// The minimum number of characters.
    pub min_length: Option<usize>,
    /// Error message for the previous input.
    pub error: Option<String>,
}

#[derive(Template)]
#[template(path = "message.html")]
struct MessageTemplate<'a> {
    head: &'a PageHead,
    page: &'a MessagePage,
}

#[derive(Template)]
#[template(path = "message_framed.html")]
struct FramedTemplate<'a> {
    shell: &'a Shell,
    head: &'a PageHead,
    page: &'a MessagePage,
}

#[derive(Template)]
#[template(path = "message_main.html")]
struct MainTemplate<'a> {
    head: &'a PageHead,
    page: &'a MessagePage,
}

// Rendering to a string cannot fail.
impl MessagePage {
    /// Returns the page as HTML, for a browser without a session.
    #[must_use]
    pub fn html(&self, head: &PageHead) -> String {
        MessageTemplate { head, page: self }.render().unwrap_or_default()
    }

    /// Returns the page with navigation and search, for a signed-in account.
    #[must_use]
    pub fn framed_html(&self, shell: &Shell) -> String {
        let template = FramedTemplate {
            shell,
            head: &shell.head,
            page: self,
        };
        template.render().unwrap_or_default()
    }

    /// Returns the main part, which replaces that of another page.
    #[must_use]
    pub fn main_html(&self, head: &PageHead) -> String {
        MainTemplate { head, page: self }.render().unwrap_or_default()
    }
}

impl PageLink {
    /// Returns the address as a page has it, also below a path prefix.
    fn address(&self, head: &PageHead) -> String {
        match self.to.starts_with('/') {
            true => head.link(&self.to),
            false => self.to.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped() {
        let evil = r#""><script>alert('1')</script>{{ page }}"#;
        let page = MessagePage {
            title: "Title",
            paragraphs: vec![evil.to_owned()],
            form: Some(MessageForm {
                hidden: vec![("token", evil.to_owned())],
                field: Some(FormField {
                    error: Some(evil.to_owned()),
                    ..FormField::default()
                }),
                ..MessageForm::default()
            }),
            links: Vec::new(),
        };
        let head = PageHead {
            base: String::new(),
            appearance: crate::layout::Appearance::default(),
        };
        let html = page.html(&head);
        assert!(
            !html.contains("<script>alert") && !html.contains(r#"value="""#),
            "{html}"
        );
        assert_eq!(html.matches("&#60;script&#62;").count(), 3, "{html}");
    }
}
