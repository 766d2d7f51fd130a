//! Every kind of figure with realistic data, to look at after a change:
//! `cargo run -p intervalid-figure --example gallery -- OUT_DIR`.

use std::path::{Path, PathBuf};

use intervalid_figure::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal, Normal};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: gallery OUT_DIR")?);
    std::fs::create_dir_all(&folder)?;
    for (suffix, theme) in [("", Theme::Light), ("-dark", Theme::Dark)] {
        let style = Style::new(theme);
        let save = |name: &str, figure: Figure| save_both(&folder, &format!("{name}{suffix}"), &figure);
        save("band-short", band_short().draw(&style)?)?;
        save("band-outputs", band_long(3000, 3).draw(&style)?)?;
        save("band-100k", band_long(100_000, 1).draw(&style)?)?;
        save("band-edge", band_edge_cases().draw(&style)?)?;
        save("box-grid", box_grid(6).draw(&style)?)?;
        save("box-many", box_grid(14).draw(&style)?)?;
        save("box-single", box_single().draw(&style)?)?;
        save("heat-layers", heat_layers().draw(&style)?)?;
        save("heat-large", heat_large().draw(&style)?)?;
        save("bar-single", bars(6, 1).draw(&style)?)?;
        save("bar-grouped", bars(14, 3).draw(&style)?)?;
        save("line-history", history().draw(&style)?)?;
        save("line-correlation", correlations().draw(&style)?)?;
        save("line-many", many_lines().draw(&style)?)?;
    }
    Ok(())
}

fn save_both(folder: &Path, name: &str, figure: &Figure) -> Result<()> {
    figure.save(folder.join(format!("{name}.svg")))?;
    figure.save(folder.join(format!("{name}.png")))
}

fn noise(count: usize, deviation: f64, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let normal = Normal::new(0.0, deviation).expect("a positive deviation");
    (0..count).map(|_| normal.sample(&mut random)).collect()
}

fn band_panel(count: usize, title: &str, y_label: &str, seed: u64) -> BandPanel {
    let truth = |index: usize| {
        let time = index as f64 / count as f64 * 25.0;
        3.0 * (time * (1.0 + seed as f64 * 0.3)).sin() + (time * 3.1).cos() + 20.0
    };
    let width = |index: usize| 0.5 + 0.3 * (index as f64 / count as f64 * 9.0).sin().abs();
    let prediction: Vec<f64> = (0..count).map(truth).collect();
    BandPanel {
        title: title.to_owned(),
        y_label: y_label.to_owned(),
        measured: prediction
            .iter()
            .zip(noise(count, 0.35, seed))
            .map(|(value, noise)| value + noise)
            .collect(),
        lower: prediction
            .iter()
            .enumerate()
            .map(|(index, value)| value - width(index))
            .collect(),
        upper: prediction
            .iter()
            .enumerate()
            .map(|(index, value)| value + width(index))
            .collect(),
        prediction,
        y_range: None,
    }
}

fn band_short() -> BandPlot {
    BandPlot {
        title: "Heat exchanger: free-run simulation on the test part, interval LSTM (cascade)".to_owned(),
        x_label: "sample".to_owned(),
        x: (0..200).map(f64::from).collect(),
        panels: vec![band_panel(200, "", "outlet temperature (°C)", 1)],
        interval_label: "90 % interval".to_owned(),
        ..BandPlot::default()
    }
}

fn band_long(count: usize, outputs: u64) -> BandPlot {
    let panel = |seed: u64| {
        let title = format!("output {}: PICP 0.90{}, PINAW 0.21", seed + 1, seed);
        band_panel(
            count,
            &title,
            ["θ₁ (rad)", "level (cm)", "Δp (kPa)"][seed as usize % 3],
            seed,
        )
    };
    BandPlot {
        title: "Robot arm, joint prediction".to_owned(),
        x_label: "time (s)".to_owned(),
        x: (0..count).map(|index| index as f64 * 0.02).collect(),
        panels: (0..outputs).map(panel).collect(),
        ..BandPlot::default()
    }
}

fn band_edge_cases() -> BandPlot {
    let count = 120;
    let mut gaps = band_panel(count, "gaps and an unbounded stretch", "y (V)", 3);
    for index in 30..45 {
        gaps.measured[index] = f64::NAN;
        gaps.prediction[index + 5] = f64::NAN;
    }
    for index in 70..80 {
        gaps.upper[index] = f64::INFINITY;
        gaps.lower[index] = f64::NEG_INFINITY;
    }
    gaps.lower[100] = f64::NAN;
    let constant = BandPanel {
        title: "constant".to_owned(),
        y_label: "y (V)".to_owned(),
        measured: vec![4.2; count],
        ..BandPanel::default()
    };
    let missing = BandPanel {
        title: "nothing measured".to_owned(),
        y_label: "y (V)".to_owned(),
        measured: vec![f64::NAN; count],
        ..BandPanel::default()
    };
    BandPlot {
        title: "Edge cases".to_owned(),
        x_label: "sample".to_owned(),
        x: (0..count).map(|index| index as f64).collect(),
        panels: vec![gaps, constant, missing],
        ..BandPlot::default()
    }
}

const METHODS: [&str; 14] = [
    "interval LSTM cascade",
    "interval LSTM joint",
    "interval NODE cascade",
    "interval NODE joint",
    "Bayesian LSTM",
    "Monte Carlo dropout LSTM",
    "deep ensemble LSTM",
    "quantile regression LSTM",
    "Bayesian NODE",
    "Monte Carlo dropout NODE",
    "deep ensemble NODE",
    "quantile regression NODE",
    "conformal linear ARX",
    "Gaussian process",
];

fn box_panel(count: usize, title: &str, median: f64, seed: u64, log: bool) -> BoxPanel {
    let group = |index: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(seed * 100 + index as u64);
        let spread = LogNormal::new((median * (1.0 + 0.12 * index as f64)).ln(), 0.2).expect("a positive deviation");
        let mut values: Vec<f64> = (0..20).map(|_| spread.sample(&mut random)).collect();
        if index == 3 {
            values[4] = f64::NAN;
            values[5] *= 3.0;
        }
        BoxGroup {
            label: METHODS[index].to_owned(),
            values,
            published: (index < 4).then_some(Published {
                mean: median * (1.05 + 0.1 * index as f64),
                standard_deviation: 0.15 * median,
            }),
            colour: index / 4,
        }
    };
    BoxPanel {
        title: title.to_owned(),
        y_label: title.to_owned(),
        groups: (0..count).map(group).collect(),
        log,
        ..BoxPanel::default()
    }
}

fn box_grid(count: usize) -> BoxPlot {
    let mut deviation = box_panel(count, "|PICP − 0.90|", 0.02, 2, false);
    deviation.target = Some(Target {
        value: 0.0,
        label: "nominal coverage".to_owned(),
    });
    BoxPlot {
        title: "MR damper, 20 seeds per method".to_owned(),
        panels: vec![
            box_panel(count, "RMSE (kN)", 0.11, 1, false),
            deviation,
            box_panel(count, "PINAW", 0.2, 3, false),
            box_panel(count, "CWC", 0.4, 4, true),
        ],
        ..BoxPlot::default()
    }
}

fn box_single() -> BoxPlot {
    let mut panel = box_panel(7, "", 0.9, 9, false);
    panel.y_label = "PICP".to_owned();
    panel.groups[5].values.clear();
    panel.target = Some(Target {
        value: 0.9,
        label: "nominal coverage 0.90".to_owned(),
    });
    BoxPlot {
        title: "Coverage on the test part of each data set, all methods, twenty seeds, with values published by others"
            .to_owned(),
        panels: vec![panel],
        ..BoxPlot::default()
    }
}

fn heat_map(title: &str, rows: usize, columns: usize, seed: u64) -> HeatMap {
    let cells = noise(rows * columns, 1.0, seed);
    let mut values: Vec<Vec<f64>> = cells
        .chunks(columns)
        .map(|row| row.iter().map(|value| value.abs() * 0.3).collect())
        .collect();
    values[rows / 2][columns / 2] = f64::INFINITY;
    if seed == 2 {
        values[0][columns - 1] = f64::NAN;
    }
    let channel = |index: usize| match index % 2 {
        0 => format!("u(k−{})", index / 2),
        _ => format!("y(k−{})", index / 2 + 1),
    };
    HeatMap {
        title: title.to_owned(),
        row_label: "neuron".to_owned(),
        column_label: "regressor".to_owned(),
        rows: (1..=rows).map(|row| row.to_string()).collect(),
        columns: (0..columns)
            .map(|column| {
                if columns > 20 {
                    (column + 1).to_string()
                } else {
                    channel(column)
                }
            })
            .collect(),
        values,
        value_label: "elasticity".to_owned(),
    }
}

fn heat_layers() -> HeatMapGrid {
    HeatMapGrid {
        title: "Elasticity of the weights, by layer".to_owned(),
        maps: vec![
            heat_map("input layer", 12, 6, 1),
            heat_map("hidden layer 1", 12, 12, 2),
            heat_map("hidden layer 2", 12, 30, 3),
            heat_map("output layer", 3, 12, 4),
        ],
        ..HeatMapGrid::default()
    }
}

fn heat_large() -> HeatMapGrid {
    let mut large = heat_map("recurrent weights, all gates", 256, 64, 5);
    large.rows = (1..=256).map(|row| format!("gate {} unit {row}", row / 64)).collect();
    HeatMapGrid {
        title: "A large layer".to_owned(),
        maps: vec![large],
        log: true,
        ..HeatMapGrid::default()
    }
}

fn bars(count: usize, series: usize) -> BarChart {
    const CHANNELS: [&str; 7] = [
        "piston velocity",
        "coil voltage",
        "damper force",
        "flow rate",
        "inlet temperature",
        "valve position",
        "ambient temperature",
    ];
    let one = |index: usize| {
        let mut values: Vec<f64> = noise(count, 0.6, index as u64 + 1)
            .iter()
            .map(|value| value.abs())
            .collect();
        values[count / 2] = if index == 0 { f64::INFINITY } else { values[0] };
        if index == 1 {
            values[1] = f64::NAN;
        }
        BarSeries {
            name: ["interval LSTM", "interval NODE", "linear ARX"][index].to_owned(),
            values,
        }
    };
    BarChart {
        title: "Elasticity by channel".to_owned(),
        y_label: "elasticity".to_owned(),
        categories: (0..count).map(|index| CHANNELS[index % 7].to_owned()).collect(),
        series: (0..series).map(one).collect(),
        ..BarChart::default()
    }
}

fn series(name: &str, y: Vec<f64>, style: LineStyle) -> LineSeries {
    LineSeries {
        name: name.to_owned(),
        x: (0..y.len()).map(|index| index as f64).collect(),
        y,
        style,
    }
}

fn history() -> LineChart {
    let decay = |rate: f64, floor: f64, seed: u64| -> Vec<f64> {
        let wiggle = noise(500, 0.08, seed);
        (0..500)
            .map(|index| ((-rate * index as f64).exp() + floor) * wiggle[index].exp())
            .collect()
    };
    LineChart {
        title: "Training history".to_owned(),
        panels: vec![LinePanel {
            x_label: "epoch".to_owned(),
            y_label: "loss".to_owned(),
            series: vec![
                series("training", decay(0.02, 0.001, 1), LineStyle::Line),
                series("validation", decay(0.018, 0.003, 2), LineStyle::Dashed),
            ],
            references: vec![ReferenceLine {
                value: 0.003,
                label: "noise floor".to_owned(),
            }],
            log: true,
            ..LinePanel::default()
        }],
        columns: 1,
    }
}

fn correlations() -> LineChart {
    let panel = |title: &str, seed: u64| {
        let mut values = noise(41, 0.05, seed);
        if seed == 1 {
            values[0] = 1.0;
        }
        LinePanel {
            title: title.to_owned(),
            x_label: "lag (samples)".to_owned(),
            y_label: "correlation".to_owned(),
            series: vec![series("correlation", values, LineStyle::Stem)],
            bands: vec![ShadedBand {
                label: "99 % limits for white residuals".to_owned(),
                x: vec![0.0, 40.0],
                lower: vec![-0.11; 2],
                upper: vec![0.11; 2],
                ..ShadedBand::default()
            }],
            ..LinePanel::default()
        }
    };
    LineChart {
        title: "Residual analysis".to_owned(),
        panels: vec![
            panel("autocorrelation of residuals", 1),
            panel("residuals with input 'coil voltage'", 2),
            panel("residuals with input 'piston velocity'", 3),
        ],
        columns: 0,
    }
}

fn many_lines() -> LineChart {
    let curve = |index: usize| {
        let y = (0..5000)
            .map(|step| 0.9 + 0.04 * (step as f64 / (200.0 + 40.0 * index as f64)).sin() - 0.01 * index as f64);
        series(METHODS[index], y.collect(), LineStyle::Line)
    };
    LineChart {
        title: "Rolling coverage over 500 samples".to_owned(),
        panels: vec![LinePanel {
            x_label: "sample".to_owned(),
            y_label: "PICP".to_owned(),
            series: (0..9).map(curve).collect(),
            references: vec![ReferenceLine {
                value: 0.9,
                label: "nominal".to_owned(),
            }],
            ..LinePanel::default()
        }],
        columns: 1,
    }
}
