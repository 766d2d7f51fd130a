//! Pictures of bands, and figures as files.

use std::path::Path;

use anyhow::anyhow;
use intervalid_data::{Dataset, Moment};
use intervalid_figure::{BandPanel, BandPlot, Figure, SAVED_PNG_SCALE, Style, Theme};
use intervalid_model::{Band, Model};
use intervalid_report::asked;

use crate::error::Failure;
use crate::write::OutFile;

/// A picture that a user named; its ending decides the form.
pub(crate) struct PlotFile {
    file: OutFile,
    is_png: bool,
}

impl PlotFile {
    /// Checks the ending and that the file can be written.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_png = match ending.to_ascii_lowercase().as_str() {
            "png" => true,
            "svg" => false,
            _ => {
                let found = anyhow!("--plot {}: expected a name that ends in .svg or .png", path.display());
                return Err(Failure::input(found));
            }
        };
        let file = OutFile::open(path, "--plot")?;
        Ok(Self { file, is_png })
    }

    /// Draws and writes.
    pub(crate) fn write(&self, figure: &Figure) -> Result<(), Failure> {
        match self.is_png {
            true => self.file.write(&figure.to_png(SAVED_PNG_SCALE)?),
            false => self.file.write(figure.to_svg().as_bytes()),
        }
    }
}

/// A figure as `NAME.svg` and `NAME.png`.
pub(crate) fn both_forms(name: &str, figure: &Figure) -> Result<[(String, Vec<u8>); 2], Failure> {
    Ok([
        (format!("{name}.svg"), figure.to_svg().into_bytes()),
        (format!("{name}.png"), figure.to_png(SAVED_PNG_SCALE)?),
    ])
}

/// Measured outputs, simulation and band: a panel per output and experiment.
pub(crate) fn bands(title: &str, model: &Model, dataset: &Dataset, bands: &[Band]) -> Result<Figure, Failure> {
    let longest = bands.iter().map(Band::len).max().unwrap_or(0);
    let first = if let [band] = bands { band.first } else { 0 };
    // Experiments of different lengths share the axis: the shorter ones end early.
    let padded = |values: &[f64]| -> Vec<f64> {
        let missing = longest - values.len();
        values
            .iter()
            .copied()
            .chain(std::iter::repeat_n(f64::NAN, missing))
            .collect()
    };
    let mut panels = Vec::new();
    for band in bands {
        let experiment = &dataset.experiments()[band.experiment];
        // The model knows the units even where the columns were named one by one.
        for (output, channel) in model.interface().outputs.iter().enumerate() {
            let measured = &experiment.output(output)[band.first..band.first + band.len()];
            panels.push(BandPanel {
                title: match bands {
                    [_] => String::new(),
                    _ => experiment.name().to_owned(),
                },
                y_label: labelled(&channel.name, channel.unit.as_deref()),
                measured: padded(measured),
                prediction: padded(&band.centre[output]),
                lower: padded(&band.lower[output]),
                upper: padded(&band.upper[output]),
                ..BandPanel::default()
            });
        }
    }
    let (x_label, start, step) = match (bands, dataset.sample_time().or(model.interface().sample_time)) {
        ([band], Some(seconds)) => match dataset.experiments()[band.experiment].time().map(|time| time.start) {
            Some(Moment::Seconds(start)) => ("time (s)".to_owned(), start, seconds),
            Some(date) => (format!("time (s) since {date}"), 0.0, seconds),
            None => ("time (s)".to_owned(), 0.0, seconds),
        },
        (_, Some(seconds)) => ("time (s)".to_owned(), 0.0, seconds),
        (_, None) => ("sample".to_owned(), 0.0, 1.0),
    };
    let plot = BandPlot {
        title: title.to_owned(),
        x_label,
        x: (0..longest).map(|k| start + step * (first + k) as f64).collect(),
        panels,
        interval_label: format!("{} interval", asked(model.config().coverage)),
        ..BandPlot::default()
    };
    Ok(plot.draw(&Style::new(Theme::Light))?)
}

fn labelled(name: &str, unit: Option<&str>) -> String {
    unit.map_or_else(|| name.to_owned(), |unit| format!("{name} ({unit})"))
}
