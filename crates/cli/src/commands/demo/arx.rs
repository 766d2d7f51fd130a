//! The linear models of the demo.

use intervalid_data::{ArxModel, DataError, LagSearchConfig, Lags, Part, runs, suggest_lags};
use intervalid_model::Band;

use super::rows::{COVERAGE, INITIAL, ModelRow, Prepared};
use crate::error::Failure;

/// The lags that a search on the validation part suggests.
pub(super) fn search_lags(prepared: &Prepared) -> Result<Lags, DataError> {
    let config = LagSearchConfig {
        initial: INITIAL,
        ..LagSearchConfig::default()
    };
    let found = suggest_lags(&prepared.dataset, &prepared.split, &config)?;
    Ok(found.suggested.lags)
}

/// ARX on the training part; the band is the free run ± a quantile of its errors on the validation part.
pub(super) fn fit(name: &'static str, prepared: &Prepared, lags: Lags) -> Result<ModelRow, Failure> {
    let model = ArxModel::fit(&prepared.scaled, &prepared.split.train, lags, true)?;
    let mut validation = simulate(&model, prepared, &prepared.split.validation)?;
    let half_width = quantile(errors(prepared, &validation), COVERAGE);
    let mut bands = simulate(&model, prepared, &prepared.split.test)?;
    for band in validation.iter_mut().chain(&mut bands) {
        band.lower[0].iter_mut().for_each(|y| *y -= half_width);
        band.upper[0].iter_mut().for_each(|y| *y += half_width);
    }
    Ok(ModelRow {
        name,
        model: "arx",
        lags,
        parameters: model.coefficients.iter().map(|row| row.len() + 1).sum(),
        training: None,
        test: prepared.evaluate(&bands)?,
        validation: prepared.evaluate(&validation)?,
        bands,
    })
}

/// Free runs over `part` in physical units, as bands without width.
fn simulate(model: &ArxModel, prepared: &Prepared, part: &Part) -> Result<Vec<Band>, DataError> {
    let windows = runs(&prepared.dataset, part, model.lags, INITIAL)?;
    let band = |window: intervalid_data::Window| {
        let columns = model.simulate(&prepared.scaled.experiments()[window.experiment], window, INITIAL);
        let physical = |y: &f64| prepared.normaliser.output_to_physical(0, *y);
        let centre: Vec<Vec<f64>> = vec![columns[0].iter().map(physical).collect()];
        Band {
            experiment: window.experiment,
            first: window.start + 1,
            warmup: INITIAL.unscored(),
            lower: centre.clone(),
            upper: centre.clone(),
            centre,
            diverged_at: None,
        }
    };
    Ok(windows.into_iter().map(band).collect())
}

fn errors(prepared: &Prepared, bands: &[Band]) -> Vec<f64> {
    let error = |band: &Band| -> Vec<f64> {
        let measured = &prepared.dataset.experiments()[band.experiment].output(0)[band.first..];
        let pairs = measured.iter().zip(&band.centre[0]);
        pairs.map(|(measured, y)| (measured - y).abs()).collect()
    };
    bands.iter().flat_map(error).collect()
}

/// The smallest value that at least the share `level` of n+1 exchangeable values does not exceed: the one of rank
/// ⌈level·(n+1)⌉, at most n.
fn quantile(mut values: Vec<f64>, level: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let rank = (level * (values.len() + 1) as f64).ceil() as usize;
    values[rank.clamp(1, values.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "a quantile is one of the values")]
    fn quantile_is_the_ranked_value() {
        let values: Vec<f64> = (1..=99).rev().map(f64::from).collect();
        assert_eq!(quantile(values.clone(), 0.9), 90.0);
        assert_eq!(quantile(values, 1.0), 99.0);
        assert_eq!(quantile(vec![3.0], 0.9), 3.0);
    }
}
