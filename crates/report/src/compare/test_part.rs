//! Whether fits are judged by the same test part.

use super::Fit;
use crate::chart::{BandChart, Chart};

/// Whether the fits show the same measured samples, but for those that diverged: they have no numbers to compare. Runs that end together may begin
/// apart, as models wait for different numbers of samples; how many are scored is looked at elsewhere. Where nothing is shown, the names of the data sets
/// decide.
pub(super) fn have_one_test_part(fits: &[Fit<'_>]) -> bool {
    let whole: Vec<&Fit<'_>> = fits.iter().filter(|fit| !diverged(fit)).collect();
    whole.windows(2).all(|pair| {
        let [a, b] = [test_charts(pair[0]), test_charts(pair[1])];
        match a.is_empty() && b.is_empty() {
            true => pair[0].content.dataset == pair[1].content.dataset,
            false => all_pairs(&a, &b, end_together),
        }
    })
}

/// Whether the fits show the same measured samples to the last one, so that their models can be drawn over them.
pub(super) fn are_same_samples(fits: &[Fit<'_>]) -> bool {
    let is_same = |a: &BandChart, b: &BandChart| a.x == b.x && a.y_label == b.y_label && a.measured == b.measured;
    let all: Vec<Runs<'_>> = fits.iter().map(test_charts).collect();
    all.windows(2).all(|pair| all_pairs(&pair[0], &pair[1], is_same))
}

/// Whether the simulation of the test part ended early, and its charts with it.
pub(super) fn diverged(fit: &Fit<'_>) -> bool {
    let mut test = fit.content.metrics.iter().filter(|row| row.name == "test");
    test.any(|row| row.numbers.diverged_at.is_some())
}

/// The charts of the first run, one per output.
pub(super) fn first_charts<'a>(fit: &Fit<'a>) -> Vec<&'a BandChart> {
    test_charts(fit).into_iter().next().unwrap_or_default()
}

/// `[run][output]`.
type Runs<'a> = Vec<Vec<&'a BandChart>>;

fn test_charts<'a>(fit: &Fit<'a>) -> Runs<'a> {
    let test = fit.content.parts.iter().find(|part| part.name == "test");
    let runs = test.map_or(&[][..], |part| &part.runs);
    let bands = |charts: &'a [Chart]| -> Vec<&'a BandChart> {
        let bands = charts.iter().filter_map(|chart| match chart {
            Chart::Band(band) => Some(band),
            _ => None,
        });
        bands.collect()
    };
    runs.iter().map(|run| bands(&run.charts)).collect()
}

fn all_pairs(a: &Runs<'_>, b: &Runs<'_>, are_alike: impl Fn(&BandChart, &BandChart) -> bool) -> bool {
    let of_run =
        |a: &[&BandChart], b: &[&BandChart]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_alike(a, b));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| of_run(a, b))
}

/// Whether two charts show the same measured samples, one of them perhaps from a later one on.
fn end_together(a: &BandChart, b: &BandChart) -> bool {
    let end = |chart: &BandChart| chart.x.start + chart.x.step * length(chart) as f64;
    let is_same_axis = a.x.label == b.x.label && a.x.step.total_cmp(&b.x.step).is_eq();
    is_same_axis
        && a.y_label == b.y_label
        && (end(a) - end(b)).abs() < 0.5 * a.x.step
        && a.measured.ends_like(&b.measured)
}

fn length(chart: &BandChart) -> usize {
    chart.measured.count().unwrap_or(0)
}
