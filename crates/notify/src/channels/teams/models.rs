//! The bodies of a Teams workflow: an Adaptive Card in a message,
//! <https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using#send-adaptive-cards-using-an-incoming-webhook>.

use serde::{Deserialize, Serialize};

/// The body of a request.
#[derive(Serialize)]
#[serde(tag = "type", rename = "message")]
pub(super) struct TeamsMessage {
    pub(super) attachments: [TeamsAttachment; 1],
}

#[derive(Serialize)]
pub(super) struct TeamsAttachment {
    #[serde(rename = "contentType")]
    pub(super) content_type: &'static str,
    pub(super) content: AdaptiveCard,
}

/// An Adaptive Card: <https://adaptivecards.io/explorer/AdaptiveCard.html>.
#[derive(Serialize)]
#[serde(tag = "type")]
pub(super) struct AdaptiveCard {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    /// The title, and the lines of the text.
    pub(super) body: Vec<RichTextBlock>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) actions: Vec<OpenUrlAction>,
    pub(super) msteams: TeamsOptions,
}

#[derive(Serialize)]
pub(super) struct TeamsOptions {
    /// `Full`: the card uses the width of the conversation.
    pub(super) width: &'static str,
}

/// A paragraph.
#[derive(Serialize)]
#[serde(tag = "type")]
pub(super) struct RichTextBlock {
    pub(super) inlines: [TextRun; 1],
}

/// A text, in which Markdown is not interpreted: <https://adaptivecards.io/explorer/TextRun.html>.
#[derive(Serialize)]
#[serde(tag = "type")]
pub(super) struct TextRun {
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) weight: Option<&'static str>,
}

/// A button that opens a URL: <https://adaptivecards.io/explorer/Action.OpenUrl.html>.
#[derive(Serialize)]
#[serde(tag = "type", rename = "Action.OpenUrl")]
pub(super) struct OpenUrlAction {
    pub(super) title: &'static str,
    pub(super) url: String,
}

/// An error of the workflow service.
#[derive(Deserialize)]
pub(super) struct WorkflowError {
    pub(super) error: WorkflowErrorDetails,
}

#[derive(Deserialize)]
pub(super) struct WorkflowErrorDetails {
    /// The name of the error, like `WorkflowTriggerIsNotEnabled`.
    #[serde(default)]
    pub(super) code: Option<String>,
}
