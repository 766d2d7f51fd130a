//! Fitted models side by side, a linear one always among them.

use intervalid_model::Metrics;
use serde::Serialize;
use serde_json::Value;

use crate::chart::{BarsChart, Chart, Reference};
use crate::column::rounded;
use crate::error::{ReportError, Result};
use crate::page::Page;
use crate::table::{METRIC_HEADINGS, metrics_of};
use crate::text::asked;

/// One fit of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// As the user calls it: its folder.
    pub name: &'a str,
    /// Its page.
    pub page: &'a Page,
}

/// Everything on the page.
#[derive(Serialize)]
struct Content {
    title: String,
    lead: Vec<String>,
    cautions: Vec<String>,
    headings: Vec<(&'static str, &'static str)>,
    rows: Vec<Row>,
    charts: Vec<Chart>,
    /// Simulations of the test part, one entry per fit.
    runs: Vec<Simulation>,
    commands: Vec<String>,
}

#[derive(Clone, Serialize)]
struct Row {
    fit: String,
    model: String,
    dataset: String,
    output: String,
    asked: String,
    cells: Vec<Value>,
    kept: Value,
    train_seconds: Option<f64>,
    /// Short name, for charts.
    #[serde(skip)]
    category: String,
    #[serde(skip)]
    coverage: f64,
    #[serde(skip)]
    numbers: Metrics,
}

#[derive(Serialize)]
struct Simulation {
    fit: String,
    model: String,
    charts: Vec<Value>,
}

/// The page of several fits. Where none of them is linear, the linear model that every fit is judged beside is a row of
/// its own.
///
/// # Errors
/// [`ReportError::Compare`] if there is nothing to compare, or a page is not that of a fit.
pub fn compare_page(fits: &[Comparison<'_>]) -> Result<Page> {
    if fits.is_empty() {
        return Err(refused("no fit was named"));
    }
    let mut rows = Vec::new();
    for fit in fits {
        let data = fit.page.data();
        if data["kind"] != "fit" {
            return Err(refused(format!("{} is not a fit", fit.name)));
        }
        let own = list(&data["metrics"]).iter().filter(|row| row["name"] == "test");
        rows.extend(own.map(|row| self::row(fit.name, data, row, &text(&data["label"]))));
    }
    if let Some((fit, label)) = linear_of(fits) {
        let data = fit.page.data();
        let baseline = list(&data["baseline"]["rows"]);
        let name = format!("beside {}", fit.name);
        rows.extend(baseline.iter().map(|row| Row {
            train_seconds: None,
            category: "linear ARX".to_owned(),
            ..self::row(&name, data, row, &label)
        }));
    }
    let mut cautions = Vec::new();
    let differs = |key: &str| fits.iter().any(|fit| fit.page.data()[key] != fits[0].page.data()[key]);
    if differs("dataset") {
        cautions.push("These fits are of different data sets: their numbers do not compare.".to_owned());
    }
    if differs("coverage") {
        cautions.push("Different coverages were asked: widths and scores do not compare.".to_owned());
    }
    let names: Vec<String> = fits.iter().map(|fit| fit.name.to_owned()).collect();
    let content = Content {
        title: format!("Comparison of {}", names.join(", ")),
        lead: vec![verdict(&rows)],
        cautions,
        headings: METRIC_HEADINGS.to_vec(),
        charts: charts(&rows),
        runs: fits.iter().map(simulation).collect(),
        rows,
        commands: vec![format!("intervalid compare {}", names.join(" "))],
    };
    Ok(Page::new("compare", content))
}

/// Name and metrics of the linear model that the page of a fit has beside it; means where there are several outputs.
#[must_use]
pub fn linear_baseline(page: &Page) -> Option<(String, Metrics)> {
    let baseline = &page.data()["baseline"];
    let row = list(&baseline["rows"]).last()?;
    Some((text(&baseline["name"]), metrics_of(&row["numbers"])))
}

fn refused(reason: impl Into<String>) -> ReportError {
    ReportError::Compare { reason: reason.into() }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The linear baseline to show, if no fit is linear itself: that of the first fit.
fn linear_of<'a>(fits: &'a [Comparison<'a>]) -> Option<(&'a Comparison<'a>, String)> {
    if fits.iter().any(|fit| fit.page.data()["model"] == "arx") {
        return None;
    }
    fits.iter()
        .find_map(|fit| linear_baseline(fit.page).map(|(label, _)| (fit, label)))
}

fn row(fit: &str, data: &Value, row: &Value, model: &str) -> Row {
    let coverage = data["coverage"].as_f64().unwrap_or(0.0);
    Row {
        fit: fit.to_owned(),
        category: fit.to_owned(),
        model: model.to_owned(),
        dataset: text(&data["dataset"]),
        output: text(&row["output"]),
        asked: asked(coverage),
        cells: list(&row["cells"]).to_vec(),
        kept: row["kept"].clone(),
        train_seconds: data["train_seconds"].as_f64(),
        coverage,
        numbers: metrics_of(&row["numbers"]),
    }
}

/// Who has the least interval score among those that hold what was asked, and whether that is the linear model.
fn verdict(rows: &[Row]) -> String {
    let output = rows.last().map_or("", |row| row.output.as_str());
    let mut judged: Vec<&Row> = rows.iter().filter(|row| row.output == output).collect();
    judged.retain(|row| row.numbers.interval_score.is_some());
    let score = |row: &&Row| row.numbers.interval_score.unwrap_or(f64::INFINITY);
    let best = judged.iter().copied().min_by(|a, b| score(a).total_cmp(&score(b)));
    let Some(best) = best else {
        return "None of the simulations has metrics.".to_owned();
    };
    let kept = match best.kept {
        Value::Bool(true) => "and holds what was asked",
        _ => "but holds less than was asked",
    };
    format!(
        "On the test part {} ({}) has the least interval score, which counts width and misses together, {kept}.",
        best.model, best.fit
    )
}

fn charts(rows: &[Row]) -> Vec<Chart> {
    // Means over outputs where there are several.
    let output = rows.last().map_or("", |row| row.output.as_str());
    let shown: Vec<&Row> = rows.iter().filter(|row| row.output == output).collect();
    let categories: Vec<String> = shown.iter().map(|row| row.category.clone()).collect();
    let coverage = shown.first().map_or(0.0, |row| row.coverage);
    let chart = |title: &str, y_label: &str, value: fn(&Metrics) -> Option<f64>, references: Vec<Reference>| {
        Chart::Bars(BarsChart {
            title: title.to_owned(),
            x_label: String::new(),
            y_label: y_label.to_owned(),
            categories: categories.clone(),
            values: rounded(shown.iter().map(|row| value(&row.numbers).unwrap_or(f64::NAN))),
            references,
            log: false,
            y_range: None,
        })
    };
    let asked = Reference {
        value: 100.0 * coverage,
        label: format!("asked {}", asked(coverage)),
    };
    vec![
        chart(
            "Inside the band",
            "PICP (%)",
            |m| m.picp.map(|picp| 100.0 * picp),
            vec![asked],
        ),
        chart(
            "Mean width",
            "PINAW (% of the range)",
            |m| m.pinaw.map(|width| 100.0 * width),
            Vec::new(),
        ),
        chart("Error", "RMSE", |m| m.rmse, Vec::new()),
        chart(
            "Interval score",
            "score, less is better",
            |m| m.interval_score,
            Vec::new(),
        ),
    ]
}

/// The first run of the test part; all of them are zoomed together.
fn simulation(fit: &Comparison<'_>) -> Simulation {
    let data = fit.page.data();
    let test = list(&data["parts"]).iter().find(|part| part["name"] == "test");
    let mut charts = test.map_or_else(Vec::new, |part| list(&part["runs"][0]["charts"]).to_vec());
    for chart in &mut charts {
        chart["sync"] = "compare".into();
    }
    Simulation {
        fit: fit.name.to_owned(),
        model: text(&data["label"]),
        charts,
    }
}
