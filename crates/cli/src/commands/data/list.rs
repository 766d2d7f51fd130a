//! `intervalid data list`.

use std::path::{Path, PathBuf};

use intervalid_data::{CATALOGUE, KnownDataset, ReadOptions, available_names, known_dataset, load};
use intervalid_workflow::check_data_dir;
use serde::Serialize;

use crate::error::Failure;
use crate::format::{seconds, table};
use crate::output::Output;
use crate::path_text;

/// Larger files of the data folder are named but not read, so that a list stays quick.
const LARGEST_FILE_READ: u64 = 64 << 20;

/// Where the samples come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Origin {
    /// Compiled in.
    BuiltIn,
    /// A file of the data folder.
    DataDir,
    /// The user has to get it.
    #[default]
    Elsewhere,
}

/// One row of the list; what is not known without reading a large or unusual file is empty.
#[derive(Debug, Default, Serialize)]
struct Entry {
    name: String,
    available: bool,
    origin: Origin,
    samples: Option<usize>,
    inputs: Option<usize>,
    outputs: Option<usize>,
    sample_time: Option<f64>,
    description: Option<&'static str>,
    source: Option<&'static str>,
    /// Why the file cannot be read without further options.
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct List {
    #[serde(serialize_with = "path_text::maybe")]
    data_dir: Option<PathBuf>,
    datasets: Vec<Entry>,
}

/// Prints the data sets that have a name.
pub(crate) fn run(data_dir: Option<&Path>, output: &Output) -> Result<(), Failure> {
    check_data_dir(data_dir)?;
    let list = List {
        data_dir: data_dir.map(Path::to_owned),
        datasets: output.working("reading the data folder", || entries(data_dir)),
    };
    if output.is_json() {
        return output.json(&list);
    }
    let header = [
        "name",
        "available",
        "samples",
        "in",
        "out",
        "sample time",
        "description",
    ];
    output.result(table(&header, &[2, 3, 4], list.datasets.iter().map(row)))?;
    for entry in &list.datasets {
        if let Some(problem) = &entry.problem {
            output.warning(problem);
        }
    }
    let missing = list.datasets.iter().filter(|entry| !entry.available);
    for (index, entry) in missing.enumerate() {
        if index == 0 {
            output
                .story("\nTo use the others, save them in a folder and name it with --data-dir or INTERVALID_DATA:")?;
        }
        let file = format!("{}.csv", entry.name);
        output.story(format_args!("  {file:20}{}", entry.source.unwrap_or_default()))?;
    }
    output.story("\nDescribe one with `intervalid data show NAME`; your own file with `intervalid data show FILE`.")?;
    Ok(())
}

/// Known names in the order of the catalogue, then those of the folder.
fn entries(data_dir: Option<&Path>) -> Vec<Entry> {
    let available = available_names(data_dir);
    let known = CATALOGUE.iter().map(from_catalogue);
    let others = available.iter().filter(|name| known_dataset(name).is_none());
    let others = others.map(|name| Entry {
        name: name.clone(),
        ..Entry::default()
    });
    let mut entries: Vec<Entry> = known.chain(others).collect();
    for entry in entries.iter_mut().filter(|entry| entry.origin == Origin::Elsewhere) {
        if available.contains(&entry.name) {
            entry.available = true;
            entry.origin = Origin::DataDir;
            read_sizes(entry, data_dir);
        }
    }
    entries
}

fn from_catalogue(known: &KnownDataset) -> Entry {
    let origin = if known.is_built_in() {
        Origin::BuiltIn
    } else {
        Origin::Elsewhere
    };
    Entry {
        name: known.name.to_owned(),
        available: known.is_built_in(),
        origin,
        samples: Some(known.samples),
        inputs: Some(1),
        outputs: Some(1),
        sample_time: known.sample_time,
        description: Some(known.description),
        source: Some(known.source),
        problem: None,
    }
}

/// What the file itself says, which may differ from the catalogue.
fn read_sizes(entry: &mut Entry, data_dir: Option<&Path>) {
    (entry.samples, entry.inputs, entry.outputs) = (None, None, None);
    if data_dir.is_none_or(|folder| size(folder, &entry.name) > LARGEST_FILE_READ) {
        return;
    }
    match load(&[&entry.name], data_dir, &ReadOptions::default()) {
        Ok(dataset) => {
            entry.samples = Some(dataset.samples());
            entry.inputs = Some(dataset.inputs().len());
            entry.outputs = Some(dataset.outputs().len());
        }
        Err(error) => entry.problem = Some(error.to_string()),
    }
}

fn size(folder: &Path, name: &str) -> u64 {
    let stems = [name.to_owned(), name.replace('-', "_")];
    let sizes = stems
        .iter()
        .filter_map(|stem| folder.join(format!("{stem}.csv")).metadata().ok());
    sizes.map(|metadata| metadata.len()).max().unwrap_or(0)
}

fn row(entry: &Entry) -> Vec<String> {
    let number = |value: Option<usize>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    let available = match entry.origin {
        Origin::BuiltIn => "built in",
        Origin::DataDir if entry.problem.is_some() => "needs options",
        Origin::DataDir => "data folder",
        Origin::Elsewhere => "not here",
    };
    vec![
        entry.name.clone(),
        available.to_owned(),
        number(entry.samples),
        number(entry.inputs),
        number(entry.outputs),
        seconds(entry.sample_time),
        entry.description.unwrap_or_default().to_owned(),
    ]
}
