//! Forms with an email address and a password: sign in, register, and the first account of a service.

use askama::Template;

use crate::filters;
use crate::layout::PageHead;

/// The minimum number of characters of a new password.
pub const MIN_PASSWORD_CHARS: usize = 8;

/// The purpose of a form with credentials.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CredentialsPurpose {
    /// `/sign-in`
    SignIn,
    /// `/register`
    Register,
    /// `/first-account`
    FirstAccount {
        /// Whether the code that the server has printed is required.
        needs_code: bool,
    },
}

impl CredentialsPurpose {
    const fn title(self) -> &'static str {
        match self {
            Self::SignIn => "sign-in",
            Self::Register => "create-account",
            Self::FirstAccount { .. } => "create-first-account",
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::SignIn => "/sign-in",
            Self::Register => "/register",
            Self::FirstAccount { .. } => "/first-account",
        }
    }

    /// The value of `autocomplete` of the password.
    const fn password_autocomplete(self) -> &'static str {
        match self {
            Self::SignIn => "current-password",
            Self::Register | Self::FirstAccount { .. } => "new-password",
        }
    }
}

/// A form with credentials.
#[derive(Template, Clone, PartialEq, Debug)]
#[template(path = "credentials.html")]
pub struct CredentialsPage {
    /// The head.
    pub head: PageHead,
    /// The purpose.
    pub purpose: CredentialsPurpose,
    /// The CSRF token.
    pub form_token: String,
    /// The address to return to.
    pub next: String,
    /// The email address of the previous input.
    pub email: String,
    /// The error of the whole form.
    pub error: Option<String>,
    /// The error of the email address.
    pub email_error: Option<String>,
    /// The error of the password.
    pub password_error: Option<String>,
    /// The error of the code.
    pub code_error: Option<String>,
    /// Whether everyone may register.
    pub may_register: bool,
}

impl CredentialsPage {
    fn is_sign_in(&self) -> bool {
        self.purpose == CredentialsPurpose::SignIn
    }

    fn is_register(&self) -> bool {
        self.purpose == CredentialsPurpose::Register
    }

    fn needs_code(&self) -> bool {
        matches!(self.purpose, CredentialsPurpose::FirstAccount { needs_code: true })
    }

    /// Creates an empty form.
    #[must_use]
    pub fn new(head: PageHead, purpose: CredentialsPurpose, form_token: &str) -> Self {
        Self {
            head,
            purpose,
            form_token: form_token.to_owned(),
            next: String::new(),
            email: String::new(),
            error: None,
            email_error: None,
            password_error: None,
            code_error: None,
            may_register: false,
        }
    }

    /// Returns the page as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        // Rendering to a string cannot fail.
        self.render().unwrap_or_default()
    }
}
