//! Elasticity as pictures: a heat map per layer, and bars per input channel (docs/method.md, section 10).

use intervalid_figure::{BarChart, BarSeries, Figure, HeatMap, HeatMapGrid, Result, Style, Theme};
use intervalid_model::{Elasticity, LayerElasticity};

/// r̄ of every parameter, a map per layer: input channels across, outputs down. Unbounded ones have a colour of their own.
///
/// # Errors
/// If the figure cannot be drawn.
pub fn elasticity_heat_maps(title: &str, elasticity: &Elasticity) -> Result<Figure> {
    let map = |layer: &LayerElasticity| {
        let value = |row: usize| {
            let parameter =
                move |channel: &intervalid_model::ChannelElasticity| channel.parameters[row].unwrap_or(f64::INFINITY);
            layer.channels.iter().map(parameter).collect()
        };
        HeatMap {
            title: layer_title(layer),
            row_label: "output".to_owned(),
            column_label: "input".to_owned(),
            rows: layer.outputs.clone(),
            columns: layer.channels.iter().map(|channel| channel.name.clone()).collect(),
            values: (0..layer.outputs.len()).map(value).collect(),
            value_label: "elasticity".to_owned(),
        }
    };
    let grid = HeatMapGrid {
        title: title.to_owned(),
        maps: elasticity.layers.iter().map(map).collect(),
        columns: elasticity.layers.len().min(3),
        shared_scale: false,
        log: true,
    };
    grid.draw(&Style::new(Theme::Light))
}

/// R̄ of the input channels of the first layer, one series per named model: what the paper calls channel-wise elasticity.
///
/// # Errors
/// If the figure cannot be drawn, or the models have different inputs.
pub fn elasticity_bars(title: &str, models: &[(&str, &Elasticity)]) -> Result<Figure> {
    let first = |elasticity: &Elasticity| elasticity.layers.first().cloned();
    let layers: Vec<(String, LayerElasticity)> = models
        .iter()
        .filter_map(|(name, elasticity)| Some(((*name).to_owned(), first(elasticity)?)))
        .collect();
    let shown = |layer: &LayerElasticity| -> Vec<(String, f64)> {
        let inputs = layer.inputs();
        inputs
            .map(|(channel, sum)| (channel.name.clone(), sum.unwrap_or(f64::INFINITY)))
            .collect()
    };
    let categories = layers.first().map(|(_, layer)| shown(layer)).unwrap_or_default();
    let chart = BarChart {
        title: title.to_owned(),
        x_label: "input channel of the first layer".to_owned(),
        y_label: "elasticity, summed over outputs".to_owned(),
        categories: categories.into_iter().map(|(name, _)| name).collect(),
        series: layers
            .iter()
            .map(|(name, layer)| BarSeries {
                name: name.clone(),
                values: shown(layer).into_iter().map(|(_, value)| value).collect(),
            })
            .collect(),
        // From hardly any to many times a parameter's size.
        log: true,
    };
    chart.draw(&Style::new(Theme::Light))
}

fn layer_title(layer: &LayerElasticity) -> String {
    match layer.layer.as_str() {
        "linear" => "linear path".to_owned(),
        index => format!("layer {index}"),
    }
}
