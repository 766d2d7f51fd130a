//! A page: its content, and how it becomes one file.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::analysis::AnalysisContent;
use crate::assets;
use crate::card::Card;
use crate::compare::CompareContent;
use crate::error::{ReportError, Result};
use crate::fit::FitContent;
use crate::monitor::MonitorContent;
use crate::study::StudyContent;

/// Format of the data of a page. Older ones are read, newer ones refused.
///
/// | format | what it added |
/// |---|---|
/// | 1 | everything that version 0.1.0 wrote |
/// | 2 | inputs of the runs, overlays in comparisons; analyses |
const FORMAT: u64 = 2;

const TEMPLATES: [(&str, &str); 8] = [
    ("page.html", include_str!("../templates/page.html")),
    ("parts.html", include_str!("../templates/parts.html")),
    ("fit.html", include_str!("../templates/fit.html")),
    ("study.html", include_str!("../templates/study.html")),
    ("compare.html", include_str!("../templates/compare.html")),
    ("monitor.html", include_str!("../templates/monitor.html")),
    ("card.html", include_str!("../templates/card.html")),
    ("analysis.html", include_str!("../templates/analysis.html")),
];

/// In the order they run.
const SCRIPTS: [&str; 5] = [
    assets::UPLOT_SCRIPT,
    assets::THEME_SCRIPT,
    assets::CHARTS_SCRIPT,
    assets::DRAWN_SCRIPT,
    include_str!("../assets/page.js"),
];

const STYLES: [&str; 2] = [assets::UPLOT_STYLE, assets::STYLE];

/// A page before it is written: everything it shows, as data.
///
/// A fit keeps these data as `report.json`, so that its page can be written again, and be put beside others, without the
/// record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    format: u64,
    /// Of the program that made it.
    version: String,
    #[serde(flatten)]
    pub(crate) content: Content,
}

/// What a page shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Content {
    Fit(Box<FitContent>),
    Compare(Box<CompareContent>),
    Study(Box<StudyContent>),
    Monitor(Box<MonitorContent>),
    Card(Box<Card>),
    Analysis(Box<AnalysisContent>),
}

impl Page {
    pub(crate) fn new(content: Content) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            content,
        }
    }

    /// Reads the data of a page back and checks all of them: what this accepts can be shown and compared.
    ///
    /// # Errors
    /// [`ReportError::Json`], [`ReportError::NewerFormat`], or [`ReportError::Field`] with the first field that is wrong.
    pub fn from_json(text: &str) -> Result<Self> {
        let data: Value = serde_json::from_str(text).map_err(ReportError::Json)?;
        let envelope = |name: &str, expected: &str| {
            let found = match data.get(name) {
                None => "missing".to_owned(),
                Some(found) => format!("found {found}"),
            };
            ReportError::field(name, format!("{found}, expected {expected}"))
        };
        let format = data.get("format").and_then(Value::as_u64).filter(|format| *format > 0);
        let format = format.ok_or_else(|| envelope("format", "a whole number from 1"))?;
        if format > FORMAT {
            return Err(ReportError::NewerFormat {
                found: format,
                newest: FORMAT,
            });
        }
        let version = data.get("version").and_then(Value::as_str);
        let version = version.ok_or_else(|| envelope("version", "a text"))?.to_owned();
        let content = match data.get("kind").and_then(Value::as_str) {
            Some("fit") => Content::Fit(read(data)?),
            Some("compare") => Content::Compare(read(data)?),
            Some("study") => Content::Study(read(data)?),
            Some("monitor") => Content::Monitor(read(data)?),
            Some("card") => Content::Card(read(data)?),
            Some("analysis") => Content::Analysis(read(data)?),
            _ => {
                let kinds = "\"fit\", \"compare\", \"study\", \"analysis\", \"monitor\" or \"card\"";
                return Err(envelope("kind", kinds));
            }
        };
        match &content {
            Content::Fit(fit) => fit.check()?,
            Content::Compare(compare) => compare.check()?,
            Content::Study(study) => study.check()?,
            Content::Monitor(monitor) => monitor.check()?,
            // Nothing but text.
            Content::Card(_) => {}
            Content::Analysis(analysis) => analysis.check()?,
        }
        Ok(Self {
            format,
            version,
            content,
        })
    }

    /// The data, for [`Page::from_json`].
    ///
    /// # Panics
    /// Never: a page is plain data with text keys.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a page is plain data with text keys") + "\n"
    }

    /// The page as one HTML file that needs nothing else. Its content security policy lets the page's own script run and
    /// nothing else: whatever a name or title in the data holds, it stays text.
    ///
    /// # Errors
    /// [`ReportError::Template`] if a template does not know its content, which is a mistake of this crate.
    pub fn to_html(&self) -> Result<String> {
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        // A misspelt key must not become an empty cell.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        for (name, source) in TEMPLATES {
            environment.add_template(name, source)?;
        }
        let template = match self.content {
            Content::Fit(_) => "fit.html",
            Content::Compare(_) => "compare.html",
            Content::Study(_) => "study.html",
            Content::Monitor(_) => "monitor.html",
            Content::Card(_) => "card.html",
            Content::Analysis(_) => "analysis.html",
        };
        let (styles, scripts) = (element(&STYLES), element(&SCRIPTS));
        Ok(environment.get_template(template)?.render(context! {
            page => minijinja::Value::from(Serde(self)),
            policy => policy(&styles, &scripts),
            styles,
            scripts,
        })?)
    }

    #[cfg(test)]
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// What the page of a fit shows; `None` of other pages.
    pub(crate) fn as_fit(&self) -> Option<&FitContent> {
        match &self.content {
            Content::Fit(content) => Some(content),
            _ => None,
        }
    }
}

fn read<T: DeserializeOwned>(data: Value) -> Result<T> {
    serde_path_to_error::deserialize(data).map_err(|error| {
        let path = error.path().to_string();
        ReportError::field(path, error.into_inner().to_string())
    })
}

/// Files as the content of one element.
fn element(files: &[&str]) -> String {
    format!("\n{}\n", files.join("\n"))
}

/// The content security policy of a page with this style sheet and script.
fn policy(styles: &str, scripts: &str) -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; connect-src 'none'; base-uri 'none'; \
         form-action 'none'",
        hash(scripts),
        hash(styles),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Written by version 0.1.0: `intervalid fit tiny.csv --input valve --output level,flow --preset paper --hidden 2
    /// --epochs 2 --lags 1,1,1` of a simulated record of 120 samples.
    const OLD: &str = include_str!("../tests/fixtures/fit-0.1.0.json");

    fn reason(text: &str) -> String {
        Page::from_json(text).expect_err("refused").to_string()
    }

    /// Why the old page is refused with one value changed.
    fn changed(pointer: &str, value: Value) -> String {
        let mut data: Value = serde_json::from_str(OLD).expect("JSON");
        *data.pointer_mut(pointer).expect(pointer) = value;
        reason(&data.to_string())
    }

    #[test]
    fn foreign_data_are_refused_with_a_reason() {
        assert!(reason("{").starts_with("report data: not JSON"), "{}", reason("{"));
        assert_eq!(
            reason("[]"),
            "report data: `format`: missing, expected a whole number from 1"
        );
        assert_eq!(
            reason("{\"format\":1,\"version\":\"0.1.0\",\"kind\":\"cake\"}"),
            "report data: `kind`: found \"cake\", expected \"fit\", \"compare\", \"study\", \"analysis\", \"monitor\" or \"card\""
        );
        assert!(reason("{\"format\":99,\"kind\":\"fit\"}").contains("format 99 is newer"));
        assert_eq!(
            reason("{\"format\":1,\"version\":\"0.1.0\",\"kind\":\"study\"}"),
            "report data: `.`: missing field `title`"
        );
    }

    #[test]
    fn pages_of_version_0_1_0_are_read_and_written_again() {
        let page = Page::from_json(OLD).expect("an old page");
        let html = page.to_html().expect("a page");
        assert!(html.contains("intervalid 0.1.0") && html.contains("flow, validation"));
        assert_eq!(Page::from_json(&page.to_json()).expect("its own data"), page);
    }

    #[test]
    fn a_field_that_is_wrong_is_named() {
        let chart = "/parts/0/runs/0/charts/0";
        let at = "report data: `parts[0].runs[0].charts[0]";
        let steps = |n: usize| BASE64_STANDARD.encode(vec![0; 2 * n]);
        let cases = [
            (chart.to_owned(), json!([]), ""),
            (format!("{chart}/kind"), json!("pie"), ".kind`: unknown variant `pie`"),
            (
                format!("{chart}/measured/data"),
                json!("**"),
                ".measured.data`: not base64",
            ),
            (
                format!("{chart}/measured/data"),
                json!("AA=="),
                ".measured.data`: half a value at its end",
            ),
            (
                format!("{chart}/upper/data"),
                json!(steps(58)),
                ".upper`: 58 values, expected 59 as in `measured`",
            ),
            (format!("{chart}/lower/low"), json!(1e9), ".lower`: from 1000000000 to "),
            (
                format!("{chart}/outside"),
                json!([3, 59]),
                ".outside[1]`: sample 59, but there are 59, counted from 0",
            ),
            (
                format!("{chart}/extrapolated"),
                json!([[5, 4]]),
                ".extrapolated[0]`: from 5 to 4",
            ),
            (format!("{chart}/x/step"), json!(0), ".x.step`: 0, expected more than 0"),
        ];
        for (pointer, value, expected) in cases {
            let found = changed(&pointer, value);
            assert!(found.starts_with(&format!("{at}{expected}")), "{pointer}: {found}");
        }
        let found = changed("/coverage", json!(1.5));
        assert_eq!(found, "report data: `coverage`: 1.5, expected a share between 0 and 1");
        let found = changed("/metrics/1/cells", json!([]));
        assert_eq!(
            found,
            "report data: `metrics[1].cells`: 0 cells, expected 8, one per heading"
        );
        let found = changed("/metrics/0/numbers/n", json!("many"));
        assert!(
            found.starts_with("report data: `metrics[0].numbers.n`: invalid type"),
            "{found}"
        );
        let found = changed("/residuals/0/autocorrelation/series/0/values", json!([1]));
        assert!(
            found.starts_with("report data: `residuals[0].autocorrelation.series[0].values`: 1 "),
            "{found}"
        );
        let found = changed("/elasticity/layers/0/values/0", json!([]));
        assert!(
            found.starts_with("report data: `elasticity.layers[0].values[0]`: 0 "),
            "{found}"
        );
    }

    #[test]
    fn only_the_page_s_own_script_may_run() {
        let html = Page::from_json(OLD).expect("a page").to_html().expect("a page");
        let policy = html.find("http-equiv=\"Content-Security-Policy\"").expect("a policy");
        let (style, script) = (
            html.find("<style>").expect("styles"),
            html.find("<script").expect("scripts"),
        );
        assert!(policy < style && policy < script, "before what it is about");
        let own = &html[html.find("<script>\n").expect("the script") + 8..];
        let own = &own[..own.find("</script>").expect("its end")];
        let hash = BASE64_STANDARD.encode(Sha256::digest(own));
        // A plus sign and a slash may be written as character references.
        let plain = html[policy..style].replace("&#x2f;", "/");
        assert!(plain.contains(&format!("script-src 'sha256-{hash}'")), "{plain}");
    }
}
