//! The first hundred test samples of the first seed: measured output, simulation and band of every model.

use intervalid_figure::{BandPanel, BandPlot, Style, Theme};

use super::{NamedFigure, labels};
use crate::error::Result;
use crate::predictions::StoredBand;
use crate::record::RunRecord;
use crate::store::Store;

/// As many samples as the paper shows.
const SAMPLES: usize = 100;

/// One figure per data set, coverage and group of models: the interval networks by strategy, the baselines
/// together, searches.
///
/// # Errors
/// If the database cannot be read or a figure not be drawn.
pub fn snapshots(store: &Store) -> Result<Vec<NamedFigure>> {
    let spec = store.spec()?;
    let runs = store.runs()?;
    let Some(&first_seed) = spec.seeds.first() else {
        return Ok(Vec::new());
    };
    let mut figures = Vec::new();
    for dataset in &spec.datasets {
        let file = labels::file_of_dataset(dataset, &spec.datasets);
        for &coverage in &spec.coverages {
            for (group, colours) in [
                ("cascade", 0..=0),
                ("joint", 1..=1),
                ("baselines", 2..=5),
                ("auto", labels::AUTO..=labels::AUTO),
            ] {
                let mut shown: Vec<&RunRecord> = runs
                    .iter()
                    .filter(|run| labels::is_at(run, dataset, coverage) && run.cell.seed == first_seed)
                    .filter(|run| colours.contains(&labels::colour(&run.cell)) && run.result().is_some())
                    .collect();
                shown.sort_by_key(|run| (labels::colour(&run.cell), labels::of(&run.cell)));
                let mut panels = Vec::new();
                let mut x = Vec::new();
                for run in shown {
                    let predictions = store.predictions(&run.key)?.unwrap_or_default();
                    if let Some(prediction) = predictions.first() {
                        let shown = SAMPLES.min(prediction.target.len());
                        if shown > x.len() {
                            x = (0..shown).map(|step| (step + 2) as f64).collect();
                        }
                        panels.push(panel(&labels::of(&run.cell), prediction));
                    }
                }
                // Panels share their axis: a simulation that ended early is no panel of a hundred samples.
                panels.retain(|panel| panel.measured.len() == x.len());
                if panels.is_empty() {
                    continue;
                }
                let plot = BandPlot {
                    title: format!(
                        "{dataset}, {} asked, {group}, seed {first_seed}",
                        labels::percent(coverage)
                    ),
                    x_label: "sample of the test part".to_owned(),
                    x,
                    panels,
                    interval_label: format!("{} interval", labels::percent(coverage)),
                    shared_y: true,
                    ..BandPlot::default()
                };
                figures.push(NamedFigure {
                    name: labels::file(&["snapshot", &file, &labels::share(coverage), group]),
                    figure: plot.draw(&Style::new(Theme::Light))?,
                });
            }
        }
    }
    Ok(figures)
}

fn panel(title: &str, prediction: &StoredBand) -> BandPanel {
    let column = |values: &[f32]| values.iter().take(SAMPLES).map(|&value| f64::from(value)).collect();
    BandPanel {
        title: title.to_owned(),
        measured: column(&prediction.target),
        prediction: column(&prediction.centre),
        lower: column(&prediction.lower),
        upper: column(&prediction.upper),
        ..BandPanel::default()
    }
}
