//! A page: its data, and how they become one file.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde::Serialize;
use serde_json::Value;

use crate::error::{ReportError, Result};

/// Format of the data of a page; a reader refuses newer ones.
const FORMAT: u64 = 1;

const TEMPLATES: [(&str, &str); 5] = [
    ("page.html", include_str!("../templates/page.html")),
    ("parts.html", include_str!("../templates/parts.html")),
    ("fit.html", include_str!("../templates/fit.html")),
    ("study.html", include_str!("../templates/study.html")),
    ("compare.html", include_str!("../templates/compare.html")),
];

/// In the order they run.
const SCRIPTS: [&str; 5] = [
    include_str!("../assets/uplot/uPlot.iife.min.js"),
    include_str!("../assets/theme.js"),
    include_str!("../assets/charts.js"),
    include_str!("../assets/drawn.js"),
    include_str!("../assets/page.js"),
];

const STYLES: [&str; 2] = [
    include_str!("../assets/uplot/uPlot.min.css"),
    include_str!("../assets/report.css"),
];

/// A page before it is written: everything it shows, as data.
///
/// A fit keeps these data as `report.json`, so that its page can be written again, and be put beside others, without the
/// record.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    data: Value,
}

/// What every page has.
#[derive(Serialize)]
struct Envelope<T> {
    format: u64,
    kind: &'static str,
    version: &'static str,
    #[serde(flatten)]
    content: T,
}

impl Page {
    pub(crate) fn new(kind: &'static str, content: impl Serialize) -> Self {
        let envelope = Envelope {
            format: FORMAT,
            kind,
            version: env!("CARGO_PKG_VERSION"),
            content,
        };
        Self {
            data: serde_json::to_value(envelope).expect("a page is plain data with text keys"),
        }
    }

    /// Reads the data of a page back.
    ///
    /// # Errors
    /// [`ReportError::Format`] if it is not the data of a page, or of a newer format.
    pub fn from_json(text: &str) -> Result<Self> {
        let refused = |reason: String| ReportError::Format { reason };
        let data: Value = serde_json::from_str(text).map_err(|error| refused(format!("not JSON: {error}")))?;
        match (data["format"].as_u64(), data["kind"].as_str()) {
            (Some(FORMAT), Some("fit" | "study" | "compare")) => Ok(Self { data }),
            (Some(format), _) if format > FORMAT => Err(refused(format!(
                "its format is {format}, this program reads {FORMAT}: use the program that wrote it"
            ))),
            _ => Err(refused("expected what a fit wrote as report.json".to_owned())),
        }
    }

    /// The data, for [`Page::from_json`].
    #[must_use]
    pub fn to_json(&self) -> String {
        self.data.to_string() + "\n"
    }

    /// The page as one HTML file that needs nothing else.
    ///
    /// # Errors
    /// [`ReportError::Template`] if the data are not those of a page of their kind.
    pub fn to_html(&self) -> Result<String> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        // A misspelt key must not become an empty cell.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        for (name, source) in TEMPLATES {
            environment.add_template(name, source)?;
        }
        let kind = self.data["kind"].as_str().unwrap_or_default();
        let template = environment.get_template(&format!("{kind}.html"))?;
        Ok(template.render(context! {
            page => minijinja::Value::from(Serde(&self.data)),
            styles => STYLES.join("\n"),
            scripts => SCRIPTS.join("\n"),
        })?)
    }

    /// The data.
    pub(crate) fn data(&self) -> &Value {
        &self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_data_are_refused_with_a_reason() {
        let reason = |text: &str| Page::from_json(text).expect_err("refused").to_string();
        assert!(reason("{").starts_with("report data: not JSON"), "{}", reason("{"));
        assert!(reason("{\"format\":1,\"kind\":\"cake\"}").contains("report.json"));
        assert!(reason("{\"format\":99,\"kind\":\"fit\"}").contains("its format is 99"));
    }
}
