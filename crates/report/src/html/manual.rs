//! Where a page finds the manual.

use std::str::FromStr;

use maud::{Markup, html as markup};

/// The address of the manual's folder: absolute, or relative to the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManualAddress(String);

impl FromStr for ManualAddress {
    type Err = String;

    /// # Errors
    ///
    /// An address that a browser would execute, or ask another program to open.
    fn from_str(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
        let is_known = ["", "http", "https", "file"].contains(&scheme);
        if rest.is_empty() || !(is_known || scheme.contains('/')) {
            return Err(
                "expected an address such as https://example.org/ssdlab or ../manual".into()
            );
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }
}

impl ManualAddress {
    /// A link to a page of the manual.
    pub(super) fn link(&self, page: &str, text: &str) -> Markup {
        markup! { a href={ (self.0) "/" (page) ".html" } { (text) } }
    }
}
