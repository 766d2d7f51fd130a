//! A model card: what a model is, where it comes from, what is known of its errors, and where it ends.

use std::fmt::Write as _;
use std::path::Path;

use intervalid_data::{Channel, SplitFractions};
use intervalid_model::{Method, Model, ModelError, SAMPLE_LIMIT};
use intervalid_workflow::Preset;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::folder::{MODEL_ALL, command_line};
use crate::page::{Content, Page};
use crate::text::{asked, percent, significant};

/// What a card is made from.
#[derive(Clone, Copy, Debug)]
pub struct CardSource<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its file, as the user calls it.
    pub file: &'a str,
    /// The bytes of the file.
    pub bytes: &'a [u8],
    /// `metrics.json` of its fit, if that is beside it.
    pub metrics: Option<&'a Value>,
    /// Shares of training, validation and test in that fit.
    pub split: Option<&'a str>,
    /// Licence of the data.
    pub licence: Option<&'a str>,
}

/// Everything on the card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// Heading.
    pub title: String,
    /// In the order of reading.
    pub sections: Vec<CardSection>,
    /// What no file says.
    pub unknown: Vec<String>,
}

/// One section of a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CardSection {
    /// Heading.
    pub heading: String,
    /// Sentences.
    pub words: Vec<String>,
    /// Names of the columns; none where `rows` are names and values.
    pub columns: Vec<String>,
    /// As many cells as columns, or two.
    pub rows: Vec<Vec<String>>,
    /// Commands.
    pub commands: Vec<String>,
}

/// Collects values, and the names of those that are not known.
#[derive(Default)]
struct Known {
    unknown: Vec<String>,
}

impl Known {
    fn row(&mut self, name: &str, value: Option<String>) -> Vec<String> {
        let value = value.unwrap_or_else(|| {
            self.unknown.push(name.to_owned());
            "not known".to_owned()
        });
        vec![name.to_owned(), value]
    }
}

fn row(name: &str, value: impl Into<String>) -> Vec<String> {
    vec![name.to_owned(), value.into()]
}

fn section(heading: &str) -> CardSection {
    CardSection {
        heading: heading.to_owned(),
        words: Vec::new(),
        columns: Vec::new(),
        rows: Vec::new(),
        commands: Vec::new(),
    }
}

impl Card {
    /// The card of a model.
    ///
    /// # Errors
    /// If the model has no identity, which every model of ours has.
    pub fn new(source: &CardSource<'_>) -> Result<Self, ModelError> {
        let mut known = Known::default();
        let sections = vec![
            of_model(source)?,
            of_data(source, &mut known),
            of_protocol(source, &mut known),
            of_figures(source, &mut known),
            of_band(source, &mut known),
            of_limits(source, &mut known),
            of_use(source.file),
        ];
        let outputs = names(&source.model.interface().outputs);
        Ok(Self {
            title: format!("Model card: {outputs} ({})", source.model.kind()),
            sections,
            unknown: known.unknown,
        })
    }

    /// As Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n", plain(&self.title));
        for section in &self.sections {
            let _ = write!(text, "\n## {}\n\n", section.heading);
            for sentence in &section.words {
                let _ = writeln!(text, "{}\n", plain(sentence));
            }
            if !section.rows.is_empty() {
                let columns = match section.columns.is_empty() {
                    true => vec![String::new(), String::new()],
                    false => section.columns.clone(),
                };
                let line = |cells: &[String]| {
                    let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
                    format!("| {} |\n", cells.join(" | "))
                };
                text += &line(&columns);
                text += &line(&vec!["---".to_owned(); columns.len()]);
                section.rows.iter().for_each(|row| text += &line(row));
            }
            if !section.commands.is_empty() {
                let _ = write!(text, "```sh\n{}\n```\n", section.commands.join("\n"));
            }
        }
        text += "\n## Not known\n\n";
        match self.unknown.is_empty() {
            true => text += "Nothing that a card asks for.\n",
            false => self
                .unknown
                .iter()
                .for_each(|name| text += &format!("- {}\n", plain(name))),
        }
        text
    }

    /// As a page.
    #[must_use]
    pub fn to_page(&self) -> Page {
        Page::new(Content::Card(Box::new(self.clone())))
    }
}

/// Text that stays text in a cell of a Markdown table.
fn plain(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '<' | '>' | '`' | '*' | '_' | '[' | ']' | '\\' => found.extend(['\\', character]),
            '\n' | '\r' => found.push(' '),
            _ => found.push(character),
        }
    }
    found
}

fn names(channels: &[Channel]) -> String {
    let names: Vec<&str> = channels.iter().map(|channel| channel.name.as_str()).collect();
    names.join(", ")
}

fn text_of(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn of_model(source: &CardSource<'_>) -> Result<CardSection, ModelError> {
    let model = source.model;
    let members = match model.members() {
        1 => String::new(),
        members => format!(", the mean of {members}"),
    };
    let hash = Sha256::digest(source.bytes);
    let hash = hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    Ok(CardSection {
        rows: vec![
            row("kind", format!("{}{members}", model.kind())),
            row("memory", model.memory_in_words()),
            row("parameters", model.parameters().to_string()),
            row("start of a run", model.config().initial.to_string()),
            row("file", source.file),
            row("SHA-256 of the file", hash),
            row("identity of what it computes", model.fingerprint()?),
        ],
        ..section("Model")
    })
}

fn of_data(source: &CardSource<'_>, known: &mut Known) -> CardSection {
    let interface = source.model.interface();
    let metrics = source.metrics;
    let record = metrics.and_then(|metrics| metrics.get("record"));
    let channels = |channels: &[Channel], scales: &[intervalid_data::Scale]| {
        let channels = channels.iter().zip(scales).map(|(channel, scale)| {
            let unit = channel
                .unit
                .as_ref()
                .map_or_else(|| " (unit not known)".to_owned(), |unit| format!(" {unit}"));
            format!(
                "{}: mean {}, standard deviation {}{unit}",
                channel.name,
                significant(scale.mean, 4),
                significant(scale.std, 4)
            )
        });
        channels.collect::<Vec<_>>().join("; ")
    };
    let count = |key: &str| text_of(record.and_then(|record| record.get(key)));
    let rows = vec![
        known.row("data set", text_of(metrics.and_then(|metrics| metrics.get("dataset")))),
        known.row("hash of its samples", count("data")),
        known.row("samples", count("samples")),
        known.row(
            "shares of training, validation and test",
            source.split.map(str::to_owned),
        ),
        known.row("samples of the test part", count("test_samples")),
        row(
            "inputs, in the training part",
            match interface.inputs.is_empty() {
                true => "none".to_owned(),
                false => channels(&interface.inputs, &interface.normaliser.inputs),
            },
        ),
        row(
            "outputs, in the training part",
            channels(&interface.outputs, &interface.normaliser.outputs),
        ),
        known.row(
            "sample time",
            interface.sample_time.map(|seconds| format!("{seconds} s")),
        ),
        row(
            "done to recordings first",
            match interface.preparation_in_words() {
                words if words.is_empty() => "nothing".to_owned(),
                words => words.join(" "),
            },
        ),
        known.row("licence of the data", source.licence.map(str::to_owned)),
    ];
    let all = interface.inputs.iter().chain(&interface.outputs);
    let without: Vec<&str> = all
        .filter(|channel| channel.unit.is_none())
        .map(|channel| channel.name.as_str())
        .collect();
    if !without.is_empty() {
        known.unknown.push(format!("units of {}", without.join(", ")));
    }
    CardSection {
        rows,
        ..section("Data")
    }
}

fn of_protocol(source: &CardSource<'_>, known: &mut Known) -> CardSection {
    let at = |key: &str| text_of(source.metrics.and_then(|metrics| metrics.get(key)));
    let mut rows = vec![
        known.row("preset", at("preset")),
        row("seed", source.model.config().seed.to_string()),
    ];
    if source.model.kind().method() == Method::Interval
        && let Some(strategy) = at("strategy")
    {
        rows.push(row("strategy", strategy));
    }
    rows.push(known.row("training ended because", at("stopped_because")));
    let seconds = source
        .metrics
        .and_then(|metrics| metrics.get("train_seconds"))
        .and_then(Value::as_f64);
    rows.push(known.row("seconds of training", seconds.map(|seconds| significant(seconds, 3))));
    CardSection {
        words: vec![protocol_in_words(source)],
        rows,
        ..section("Protocol")
    }
}

/// Which parts it was fitted to and judged by, as far as its fit and the name of its file tell.
fn protocol_in_words(source: &CardSource<'_>) -> String {
    if Path::new(source.file).file_name() == Some(MODEL_ALL.as_ref()) {
        return "Fitted to all parts of its record, the test part included: none is left to judge it by.".to_owned();
    }
    let at = |key: &str| source.metrics.and_then(|metrics| metrics.get(key));
    let Some(preset) = at("preset").and_then(Value::as_str) else {
        return "Nothing is known of which samples it was fitted to and judged by.".to_owned();
    };
    let fitted = if preset == Preset::Auto.name() {
        "Chosen by a search on the training and validation parts, by free runs over samples that a candidate had not seen, and fitted to both \
         parts: figures on the validation part are better than those to expect."
    } else if source.model.config().training.train_on_validation {
        "Fitted to the training and validation parts: figures on the validation part are better than those to expect."
    } else {
        "Fitted to the training part; choices were made on the validation part."
    };
    let tested = match at("test") {
        None | Some(Value::Null) => "There was no test part.",
        Some(_) => "The test part was looked at once, at the end.",
    };
    format!(
        "{fitted} {tested} All figures are of free runs: the model knows the start of a run and the inputs, no measured output after that."
    )
}

fn of_figures(source: &CardSource<'_>, known: &mut Known) -> CardSection {
    let mut rows = Vec::new();
    for (key, name) in [
        ("validation", "validation"),
        ("test", "test"),
        ("test_online", "test, band that follows measurements"),
    ] {
        let Some(part) = source.metrics.and_then(|metrics| metrics.get(key)) else {
            continue;
        };
        // Of several outputs every measure is an object by name.
        let outputs: Vec<Option<&String>> = match part.get("rmse") {
            Some(Value::Object(outputs)) => outputs.keys().filter(|name| *name != "all").map(Some).collect(),
            Some(_) => vec![None],
            None => continue,
        };
        for output in outputs {
            let number = |measure: &str| {
                let value = part.get(measure)?;
                match output {
                    Some(output) => value.get(output)?.as_f64(),
                    None => value.as_f64(),
                }
            };
            let cell = |measure: &str, text: &dyn Fn(f64) -> String| number(measure).map_or("–".to_owned(), text);
            let name = output.map_or_else(|| name.to_owned(), |output| format!("{name}, {output}"));
            rows.push(vec![
                name,
                part.get("n").map_or("–".to_owned(), ToString::to_string),
                cell("rmse", &|value| significant(value, 3)),
                cell("fit_percent", &|value| format!("{value:.1} %")),
                cell("picp", &percent),
                cell("pinaw", &percent),
            ]);
        }
    }
    if rows.is_empty() {
        known.unknown.push("figures on held-out data".to_owned());
        return CardSection {
            words: vec![
                "The files of the fit are not beside this model, or are of another one: the command evaluate judges it on data of yours."
                    .to_owned(),
            ],
            ..section("Figures")
        };
    }
    CardSection {
        columns: [
            "part",
            "samples",
            "RMSE",
            "fit",
            "inside the band",
            "mean width / range",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows,
        ..section("Figures")
    }
}

/// What the band was sized by.
fn band_in_words(source: &CardSource<'_>) -> String {
    let model = source.model;
    if let Some(calibration) = &model.interface().calibration {
        return calibration.in_words();
    }
    // That of a linear model is a quantile of its errors on the validation part, where there is one.
    let is_linear = model.kind().method() == Method::Linear;
    let split = source.split.and_then(|split| split.parse::<SplitFractions>().ok());
    match (is_linear, split) {
        (true, Some(split)) if split.validation > 0.0 => {
            "The band was sized by errors of free runs over the validation part, which the model was not fitted to; nothing else was held out for it."
        }
        (true, None) => {
            "The band was sized by errors of free runs: over the validation part of the fit if it had one, else over the data that the model was \
             fitted to, and then expect less inside on new data."
        }
        _ => "The band was sized on the data that the model was trained on, with no held-out data: expect less inside on new data.",
    }
    .to_owned()
}

fn of_band(source: &CardSource<'_>, known: &mut Known) -> CardSection {
    let model = source.model;
    let interface = model.interface();
    let mut words = vec![band_in_words(source)];
    words.push(
        "This is no guarantee: errors of a simulation follow one another and drift with the plant. The command monitor watches over it in use."
            .to_owned(),
    );
    let expected = interface.calibration.as_ref().and_then(|found| found.expected);
    let rows = vec![
        row("promised coverage", asked(model.config().coverage)),
        known.row(
            "coverage to expect of new stretches",
            expected.map(|(least, most)| format!("{:.0} to {:.0} %", 100.0 * least, 100.0 * most)),
        ),
        known.row(
            "band of predictions a few samples ahead",
            interface.horizons.as_ref().map(|horizons| {
                let last = horizons.horizons.last().copied().unwrap_or(0);
                format!("known for 1 to {last} samples")
            }),
        ),
    ];
    CardSection {
        words,
        rows,
        ..section("Band")
    }
}

fn of_limits(source: &CardSource<'_>, known: &mut Known) -> CardSection {
    let model = source.model;
    let interface = model.interface();
    let region = interface.region.as_ref().map(|region| {
        format!(
            "an ellipsoid in {} coordinates (lags {}); predictions outside are marked as extrapolated",
            region.centre.len(),
            region.lags
        )
    });
    let share = source
        .metrics
        .and_then(|metrics| metrics.pointer("/extrapolation/share"))
        .and_then(Value::as_f64);
    let mut rows = vec![known.row("region of the training data", region)];
    if let Some(share) = share {
        rows.push(row("test samples outside it", percent(share)));
    }
    rows.push(row(
        "values that are refused",
        format!("further than {SAMPLE_LIMIT:e} standard deviations from the training mean"),
    ));
    let mut words = Vec::new();
    if interface.sample_time.is_some() {
        words.push("Data sampled at another rate are refused where they say so; resample them.".to_owned());
    } else {
        words.push("The sample time is not known: data must be sampled as those of the fit were.".to_owned());
    }
    CardSection {
        words,
        rows,
        ..section("Limits")
    }
}

fn of_use(file: &str) -> CardSection {
    CardSection {
        commands: vec![
            command_line(&["intervalid", "predict", file, "new.csv"]),
            command_line(&["intervalid", "evaluate", file, "new.csv"]),
            command_line(&["intervalid", "monitor", file, "new.csv"]),
            command_line(&["intervalid", "export", file, "--to", "c", "--out", "model.c"]),
        ],
        ..section("Use")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_stay_text_in_tables() {
        assert_eq!(plain("a|b\n<script>"), "a\\|b \\<script\\>");
    }

    #[test]
    fn a_file_stays_one_word_of_its_commands() {
        let file = "my dir;x/it's $HOME/model.safetensors";
        let commands = of_use(file).commands;
        assert_eq!(commands.len(), 4);
        for command in commands {
            let words = shlex::split(&command).expect("words of a shell");
            assert_eq!(
                (words[0].as_str(), words[2].as_str()),
                ("intervalid", file),
                "{command}"
            );
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        let mut known = Known::default();
        assert_eq!(known.row("licence", None), ["licence", "not known"]);
        assert_eq!(known.row("seed", Some("1".to_owned())), ["seed", "1"]);
        assert_eq!(known.unknown, ["licence"]);
    }
}
