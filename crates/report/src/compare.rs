//! Fitted models side by side, a linear one always among them.

use intervalid_model::{Method, Metrics};
use serde::{Deserialize, Serialize};

use crate::chart::{BandChart, BarsChart, Chart, OverlayChart, OverlayModel, Reference};
use crate::column::rounded;
use crate::error::{ReportError, Result};
use crate::fit::{BaselineView, FitContent};
use crate::page::{Content, Page};
use crate::table::{Heading, MEAN, MetricRow, metric_cells, metric_headings};
use crate::text::{CoverageVerdict, MeasuredCoverage, asked, listed};

mod test_part;

use test_part::{are_same_samples, diverged, first_charts, have_one_test_part};

/// One fit of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// As the user calls it: its folder.
    pub name: &'a str,
    /// Its page.
    pub page: &'a Page,
}

/// Everything on the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CompareContent {
    pub(crate) title: String,
    pub(crate) lead: Vec<String>,
    pub(crate) cautions: Vec<String>,
    pub(crate) headings: Vec<Heading>,
    pub(crate) rows: Vec<Row>,
    pub(crate) charts: Vec<Chart>,
    /// All models on one chart per output, where their test parts are the same; formats before 2 have none.
    #[serde(default)]
    pub(crate) overlays: Vec<Chart>,
    /// Simulations of the test part, one entry per fit.
    pub(crate) runs: Vec<Simulation>,
    pub(crate) commands: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) fit: String,
    /// Short name, for charts.
    pub(crate) category: String,
    pub(crate) model: String,
    pub(crate) dataset: String,
    pub(crate) output: String,
    pub(crate) coverage: f64,
    pub(crate) asked: String,
    pub(crate) cells: Vec<String>,
    pub(crate) kept: Option<bool>,
    /// As in [`MetricRow`].
    #[serde(default)]
    pub(crate) together: Option<f64>,
    pub(crate) numbers: Metrics,
    pub(crate) train_seconds: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Simulation {
    pub(crate) fit: String,
    pub(crate) model: String,
    pub(crate) charts: Vec<Chart>,
}

/// A fit with the content of its page.
#[derive(Clone, Copy)]
struct Fit<'a> {
    name: &'a str,
    content: &'a FitContent,
}

/// The page of several fits, which `command` makes. Where none of them is linear, the linear model that every fit is judged beside is a row of
/// its own.
///
/// # Errors
/// [`ReportError::Compare`] if there is nothing to compare, or a page is not that of a fit.
pub fn compare_page(fits: &[Comparison<'_>], command: &str) -> Result<Page> {
    let fits: Vec<Fit<'_>> = fits
        .iter()
        .map(|fit| {
            let name = fit.name;
            let content = fit.page.as_fit();
            let content = content.ok_or_else(|| refused(format!("{name} is not the page of a fit")))?;
            Ok(Fit { name, content })
        })
        .collect::<Result<_>>()?;
    let Some(first) = fits.first() else {
        return Err(refused("no fit was named"));
    };
    let mut rows = Vec::new();
    for fit in &fits {
        let own = fit.content.metrics.iter().filter(|row| row.name == "test");
        rows.extend(own.map(|row| Row {
            // A model that was judged again was not trained for it.
            train_seconds: Some(fit.content.train_seconds).filter(|seconds| *seconds > 0.0),
            ..self::row(fit.name, fit.content, row, &fit.content.label)
        }));
    }
    let unequal = unequal_shares(&rows);
    if let Some((fit, baseline)) = linear_of(&fits) {
        let name = format!("beside {}", fit.name);
        rows.extend(baseline.rows.iter().map(|row| Row {
            category: "linear ARX".to_owned(),
            ..self::row(&name, fit.content, row, &baseline.name)
        }));
    }
    let mut cautions = Vec::new();
    if have_one_test_part(&fits) {
        cautions.extend(unequal);
    } else if fits.iter().any(|fit| fit.content.dataset != first.content.dataset) {
        cautions.push("These fits are of different data sets, so their numbers are not comparable.".to_owned());
    } else {
        cautions.push(
            "The test parts of these fits are not the same samples, so their numbers are not comparable.".to_owned(),
        );
    }
    let judges = Judges {
        same_samples: cautions.is_empty(),
        same_target: fits
            .iter()
            .all(|fit| fit.content.coverage.total_cmp(&first.content.coverage).is_eq()),
    };
    if !judges.same_target {
        cautions.push(
            "These fits have different coverage targets, so their widths and scores are not comparable.".to_owned(),
        );
    }
    let names: Vec<String> = fits.iter().map(|fit| fit.name.to_owned()).collect();
    let content = CompareContent {
        title: format!("Comparison of {}", names.join(", ")),
        lead: vec![verdict(&rows, judges)],
        cautions,
        headings: metric_headings(),
        charts: charts(&rows),
        overlays: overlays(&fits),
        runs: fits.iter().map(simulation).collect(),
        rows,
        commands: vec![command.to_owned()],
    };
    Ok(Page::new(Content::Compare(Box::new(content))))
}

/// Name and metrics of the linear model that the page of a fit has beside it; means where there are several outputs.
#[must_use]
pub fn linear_baseline(page: &Page) -> Option<(String, Metrics)> {
    let baseline = page.as_fit()?.baseline.as_ref()?;
    let row = baseline.rows.last()?;
    Some((baseline.name.clone(), row.numbers))
}

fn refused(reason: impl Into<String>) -> ReportError {
    ReportError::Compare { reason: reason.into() }
}

/// The linear baseline to show, if no fit is linear itself: that of the first fit.
fn linear_of<'a, 'b>(fits: &'b [Fit<'a>]) -> Option<(&'b Fit<'a>, &'a BaselineView)> {
    if fits.iter().any(|fit| fit.content.model.method() == Method::Linear) {
        return None;
    }
    fits.iter()
        .find_map(|fit| fit.content.baseline.as_ref().map(|baseline| (fit, baseline)))
}

fn row(fit: &str, content: &FitContent, row: &MetricRow, model: &str) -> Row {
    let mut numbers = row.numbers;
    // Version 0.1.0 kept means over different units.
    if row.output == MEAN {
        (numbers.rmse, numbers.interval_score) = (None, None);
    }
    Row {
        fit: fit.to_owned(),
        category: fit.to_owned(),
        model: model.to_owned(),
        dataset: content.dataset.clone(),
        output: row.output.clone(),
        coverage: content.coverage,
        asked: asked(content.coverage),
        cells: metric_cells(&numbers),
        kept: row.kept,
        together: row.together,
        numbers,
        train_seconds: None,
    }
}

/// What the fits have in common that numbers need to be compared.
#[derive(Clone, Copy)]
struct Judges {
    /// They are scored on the same samples.
    same_samples: bool,
    /// They were asked for the same coverage, without which widths and scores do not compare.
    same_target: bool,
}

/// That one fit is scored on clearly fewer samples than another, if one is: the start of a run, which a warm-up leaves out, is not as hard as its
/// end.
fn unequal_shares(rows: &[Row]) -> Option<String> {
    let scored = rows.iter().filter(|row| row.numbers.diverged_at.is_none());
    let least = scored.clone().min_by_key(|row| row.numbers.n)?;
    let most = scored.max_by_key(|row| row.numbers.n)?;
    let (fewest, most_samples) = (least.numbers.n, most.numbers.n);
    let missing = most_samples - fewest;
    (missing as f64 > LEFT_OUT * most_samples as f64).then(|| {
        format!(
            "{fewest} samples of {} are scored and {most_samples} of {}, so their numbers are not comparable.",
            least.fit, most.fit
        )
    })
}

/// The share of samples that one fit may leave out and another not.
const LEFT_OUT: f64 = 0.05;

/// Who has the lowest interval score, or with several outputs the best mean fit, and whether its band holds.
fn verdict(rows: &[Row], judges: Judges) -> String {
    if !judges.same_samples {
        return "These fits are not scored on the same samples, so none of them is called the best.".to_owned();
    }
    let output = rows.last().map_or("", |row| row.output.as_str());
    let judged = rows.iter().filter(|row| row.output == output);
    // Scores of several outputs have no common unit.
    let (measure, cost): (&str, fn(&Metrics) -> Option<f64>) = match (output == MEAN, judges.same_target) {
        (true, _) => ("the best mean fit", |metrics| metrics.fit_percent.map(|fit| -fit)),
        (false, true) => (
            "the lowest interval score, which weighs width against misses,",
            |metrics| metrics.interval_score,
        ),
        (false, false) => ("the lowest RMSE", |metrics| metrics.rmse),
    };
    let costs = judged.filter_map(|row| cost(&row.numbers).map(|cost| (row, cost)));
    let costs: Vec<(&Row, f64)> = costs.collect();
    let Some(&(best, least)) = costs.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return "None of the simulations has metrics to compare.".to_owned();
    };
    let name = |row: &Row| format!("{} ({})", row.model, row.fit);
    let equals: Vec<&Row> = costs
        .iter()
        .filter(|(_, cost)| cost.total_cmp(&least).is_eq())
        .map(|(row, _)| *row)
        .collect();
    if equals.len() > 1 {
        let names: Vec<String> = equals.into_iter().map(name).collect();
        let found = format!(
            "On the test part {} have {measure}",
            listed(names.iter().map(String::as_str))
        );
        return format!("{}.", found.trim_end_matches(','));
    }
    // Where each output has a target of its own, pages of early versions judged their mean.
    let own = rows.iter().filter(|row| row.fit == best.fit && row.model == best.model);
    let own: Vec<&Row> = own.filter(|row| output != MEAN || row.output != MEAN).collect();
    let missed = own.iter().filter(|row| row.kept == Some(false));
    let missed: Vec<&str> = missed.map(|row| row.output.as_str()).collect();
    let reached = is_reached(best, judged_share(rows, best));
    let kept = match (best.kept, output == MEAN && !missed.is_empty()) {
        (_, true) => format!(" but falls short of its coverage target in {}", listed(missed)),
        (Some(true), _) if reached => " and reaches its coverage target".to_owned(),
        (Some(true), _) => " and a coverage that is consistent with its target".to_owned(),
        (Some(false), _) => " but falls short of its coverage target".to_owned(),
        // Without a share of samples inside there is nothing to say.
        (None, _) => String::new(),
    };
    let found = format!("On the test part {} has {measure}{kept}", name(best));
    format!("{}.", found.trim_end_matches(','))
}

/// Whether a share is at least the target, to the digits that are shown; else it may still be consistent with it.
fn is_reached(row: &Row, share: Option<f64>) -> bool {
    let metrics = Metrics {
        picp: share,
        ..row.numbers
    };
    MeasuredCoverage::of(&metrics, row.coverage, None)
        .is_some_and(|measured| measured.verdict() == CoverageVerdict::Reached)
}

/// The share of samples inside that stands against the target: all outputs together where the band was sized for that, else the output that is
/// inside least often, since a mean hides that one misses.
fn judged_share(rows: &[Row], row: &Row) -> Option<f64> {
    if row.together.is_some() || row.output != MEAN {
        return row.together.or(row.numbers.picp);
    }
    let own = rows
        .iter()
        .filter(|other| other.fit == row.fit && other.model == row.model);
    let shares = own.filter(|other| other.output != MEAN).map(|other| other.numbers.picp);
    // One that has no share leaves the worst open.
    let shares: Option<Vec<f64>> = shares.collect();
    shares?.into_iter().min_by(f64::total_cmp)
}

fn charts(rows: &[Row]) -> Vec<Chart> {
    // Means over outputs where there are several.
    let output = rows.last().map_or("", |row| row.output.as_str());
    let shown: Vec<&Row> = rows.iter().filter(|row| row.output == output).collect();
    let categories: Vec<String> = shown.iter().map(|row| row.category.clone()).collect();
    let mut targets: Vec<f64> = shown.iter().map(|row| row.coverage).collect();
    targets.sort_by(f64::total_cmp);
    targets.dedup();
    let chart = |title: &str, y_label: &str, value: &dyn Fn(&Row) -> Option<f64>, references: Vec<Reference>| {
        Chart::Bars(BarsChart {
            title: title.to_owned(),
            x_label: String::new(),
            y_label: y_label.to_owned(),
            categories: categories.clone(),
            values: rounded(shown.iter().map(|row| value(row).unwrap_or(f64::NAN))),
            references,
            log: false,
            y_range: None,
        })
    };
    let asked = targets.into_iter().map(|coverage| Reference {
        value: 100.0 * coverage,
        label: format!("target {}", asked(coverage)),
    });
    let mut charts = vec![
        chart(
            "Inside the band",
            match output == MEAN {
                true => "PICP (%), worst output or all together",
                false => "PICP (%)",
            },
            &|row| judged_share(rows, row).map(|share| 100.0 * share),
            asked.collect(),
        ),
        chart(
            "Mean width",
            "PINAW (% of the range)",
            &|row| row.numbers.pinaw.map(|width| 100.0 * width),
            Vec::new(),
        ),
    ];
    if output == MEAN {
        charts.push(chart("Mean fit", "fit (%)", &|row| row.numbers.fit_percent, Vec::new()));
        return charts;
    }
    charts.push(chart("Error", "RMSE", &|row| row.numbers.rmse, Vec::new()));
    charts.push(chart(
        "Interval score",
        "score (lower is better)",
        &|row| row.numbers.interval_score,
        Vec::new(),
    ));
    charts
}

/// A chart per output with all models, where there are several on the same samples.
fn overlays(fits: &[Fit<'_>]) -> Vec<Chart> {
    let fits: Vec<Fit<'_>> = fits.iter().filter(|fit| !diverged(fit)).copied().collect();
    if fits.len() < 2 || !are_same_samples(&fits) {
        return Vec::new();
    }
    let all: Vec<Vec<&BandChart>> = fits.iter().map(first_charts).collect();
    let outputs = all[0].iter().enumerate();
    outputs
        .map(|(output, first)| {
            let models = fits.iter().zip(&all).map(|(fit, charts)| OverlayModel {
                name: format!("{} ({})", fit.name, fit.content.label),
                prediction: charts[output].prediction.clone(),
                lower: charts[output].lower.clone(),
                upper: charts[output].upper.clone(),
            });
            Chart::Overlay(OverlayChart {
                title: format!("{}: all models", first.title),
                x: first.x.clone(),
                y_label: first.y_label.clone(),
                measured: first.measured.clone(),
                models: models.collect(),
                sync: "compare".to_owned(),
            })
        })
        .collect()
}

/// The first run of the test part; all of them are zoomed together.
fn simulation(fit: &Fit<'_>) -> Simulation {
    let test = fit.content.parts.iter().find(|part| part.name == "test");
    let run = test.and_then(|part| part.runs.first());
    let mut charts = run.map_or_else(Vec::new, |run| run.charts.clone());
    for chart in &mut charts {
        if let Chart::Band(band) = chart {
            "compare".clone_into(&mut band.sync);
        }
    }
    Simulation {
        fit: fit.name.to_owned(),
        model: fit.content.label.clone(),
        charts,
    }
}

#[cfg(test)]
mod tests;
