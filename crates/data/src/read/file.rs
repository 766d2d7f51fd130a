//! From paths to one data set.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use encoding_rs_io::DecodeReaderBytesBuilder;

use crate::channel::{Channel, ChannelKind};
use crate::dataset::Dataset;
use crate::error::{DataError, FileProblem};
use crate::experiment::{Experiment, TELLING};
use crate::prepare::Clipping;
use crate::read::arrays::read_table;
use crate::read::columns::Selection;
use crate::read::header::Header;
use crate::read::limit::Limit;
use crate::read::mat::MatFile;
use crate::read::mat_hdf5::{Hdf5MatFile, is_hdf5};
use crate::read::npy::{NpyFile, NpzFile};
use crate::read::options::{Decimal, ReadOptions};
use crate::read::sheet;
use crate::read::table::{KnownStep, SAME_STEP, Table};
use crate::read::text::{self, Delimiter, TextForm};
use crate::warning::Warning;

/// Extensions of the files that are read, in lower case.
pub const EXTENSIONS: [&str; 10] = [
    "csv", "tsv", "txt", "dat", "xlsx", "xlsm", "mat", "npz", "npy", "parquet",
];

/// Where one experiment (or several, by an experiment column) comes from.
pub(crate) enum Source {
    /// A file, its format told by the extension.
    File(PathBuf),
    /// A text table in memory: the data sets that are compiled in.
    Text { name: &'static str, content: &'static str },
}

/// Reads files as the experiments of one data set.
///
/// | extension | content |
/// |---|---|
/// | `.csv`, `.tsv`, `.txt`, `.dat` | text table with a header row, UTF-8 or UTF-16; a row of units below it is recognised |
/// | `.xlsx`, `.xlsm` | the first sheet that is not empty, read as such a table |
/// | `.mat` | MATLAB (`-v6`, `-v7`, `-v7.3`): numeric arrays, and the fields of structures that hold some |
/// | `.npz` | NumPy archive: the arrays' names are the columns' names |
/// | `.npy` | one NumPy array: its columns are `c1`, `c2`, … (`c` if there is only one) |
/// | `.parquet` | flat columns of numbers, dates and times, as their types say; needs the feature `parquet` (on by default) |
///
/// In array files a two-dimensional array `u` of m columns gives the columns `u1` … `um`. Readers stream: memory is the
/// chosen columns as f64, plus at most one more of them.
///
/// # Errors
/// Names the file, the line or row, and the column; see [`DataError`].
///
/// ```no_run
/// use intervalid_data::{ReadOptions, read};
///
/// let options = ReadOptions {
///     inputs: Some(vec!["flow".into()]),
///     outputs: Some(vec!["temperature".into()]),
///     ..ReadOptions::default()
/// };
/// let dataset = read(&["monday.csv", "tuesday.csv"], &options)?;
/// assert_eq!(dataset.experiments().len(), 2);
/// # Ok::<(), intervalid_data::DataError>(())
/// ```
pub fn read<P: AsRef<Path>>(paths: &[P], options: &ReadOptions) -> Result<Dataset, DataError> {
    read_sources(
        paths
            .iter()
            .map(|path| Source::File(path.as_ref().to_owned()))
            .collect(),
        options,
    )
}

pub(crate) fn read_sources(sources: Vec<Source>, options: &ReadOptions) -> Result<Dataset, DataError> {
    let mut experiments = Vec::new();
    let mut warnings = Vec::new();
    let mut agreed: Option<(String, String, [Vec<Channel>; 2])> = None;
    let mut step = KnownStep::given(options.sample_time);
    let mut clipping: Option<Clipping> = None;
    let mut experiment_column = None;
    for (source, experiment) in sources.iter().zip(experiment_names(&sources)) {
        let (file, stem) = source.names();
        let (header, selection, mut table) = read_source(source, &file, options)?;
        let channels_of = |indices: &[usize]| indices.iter().map(|index| header.channel(*index)).collect::<Vec<_>>();
        let channels = [channels_of(&selection.inputs), channels_of(&selection.outputs)];
        experiment_column = experiment_column.or(selection.experiment.map(|column| header.name(column).to_owned()));
        let (first, _, expected) = agreed.get_or_insert_with(|| (file.clone(), stem.clone(), channels.clone()));
        check_agreement(&file, &channels, (first, expected))?;
        // A column that counts rows is no clock to somebody who says that a row takes another time.
        if let Some(sample_time) = options.sample_time.filter(|given| (given - 1.0).abs() > SAME_STEP)
            && options.time.is_none()
            && let Some(counter) = table.time.take_if(|time| time.is_counter())
        {
            table.warnings.push(Warning::CounterNotUsed {
                file: file.clone(),
                column: counter.name,
                sample_time,
            });
        }
        let column = table.time.as_ref().map(|time| time.name.clone()).unwrap_or_default();
        let names: Vec<&str> = selection.channels().map(|index| header.full[index].as_str()).collect();
        table.fill(&file, &names, options)?;
        if options.resample.is_some() && clipping.is_none() {
            clipping = Some(Clipping::new(&options.prepare, &channels[0], &channels[1])?);
        }
        let reading = (options, clipping.as_mut());
        let pieces = table.into_experiments(&file, &experiment, selection.inputs.len(), reading)?;
        pieces.agree(&file, &column, &mut step)?;
        experiments.extend(pieces.experiments);
        warnings.extend(pieces.warnings);
    }
    let Some((_, stem, [inputs, outputs])) = agreed else {
        return Err(DataError::NoFiles);
    };
    let name = options.name.clone().unwrap_or(stem);
    warnings.extend(repeated(&experiments));
    let dataset = Dataset::new(name, inputs, outputs, step.seconds(), experiments)?;
    let dataset = dataset.with_warnings(warnings).with_units_by_name(&options.units)?;
    let dataset = dataset.with_experiment_column(experiment_column);
    match clipping {
        Some(clipping) => options.prepare.apply_to_clipped(dataset, clipping),
        None => options.prepare.apply(dataset),
    }
}

/// Tells of experiments that hold the samples of an earlier one, such as a file that was named twice.
fn repeated(experiments: &[Experiment]) -> Option<Warning> {
    let mut known: HashMap<u64, Vec<&Experiment>> = HashMap::new();
    let (mut first, mut count) = (None, 0);
    for experiment in experiments.iter().filter(|experiment| experiment.len() >= TELLING) {
        let alike = known.entry(experiment.hash_of_samples()).or_default();
        match alike.iter().find(|earlier| earlier.has_samples_of(experiment)) {
            Some(earlier) => {
                count += 1;
                first.get_or_insert((experiment.name(), earlier.name()));
            }
            None => alike.push(experiment),
        }
    }
    let (experiment, earlier) = first?;
    Some(Warning::SameSamples {
        experiment: experiment.to_owned(),
        earlier: earlier.to_owned(),
        count,
    })
}

/// All files have the channels of the first, in the units that both name.
fn check_agreement(
    file: &str,
    [inputs, outputs]: &[Vec<Channel>; 2],
    (first, expected): (&str, &[Vec<Channel>; 2]),
) -> Result<(), DataError> {
    for (kind, found, expected) in [
        (ChannelKind::Input, inputs, &expected[0]),
        (ChannelKind::Output, outputs, &expected[1]),
    ] {
        let names = |channels: &[Channel]| channels.iter().map(|channel| channel.name.clone()).collect::<Vec<_>>();
        if names(found) != names(expected) {
            return Err(FileProblem::UnequalFiles {
                kind,
                found: names(found),
                expected: names(expected),
                first: first.to_owned(),
            }
            .of(file));
        }
        for (channel, other) in found.iter().zip(expected) {
            if let (Some(unit), Some(expected)) = (&channel.unit, &other.unit)
                && unit != expected
            {
                return Err(FileProblem::UnequalUnits {
                    channel: channel.name.clone(),
                    found: unit.as_str().into(),
                    expected: expected.as_str().into(),
                    first: first.to_owned(),
                }
                .of(file));
            }
        }
    }
    Ok(())
}

/// What the experiments of each source are called: the stem, or, where several have the same, as much of the path as tells them apart.
fn experiment_names(sources: &[Source]) -> Vec<String> {
    let ends: Vec<Vec<String>> = sources.iter().map(Source::ends).collect();
    let end = |source: usize, length: usize| ends[source][length.min(ends[source].len() - 1)].as_str();
    let mut alike: HashMap<&str, Vec<usize>> = HashMap::new();
    for source in 0..sources.len() {
        alike.entry(end(source, 0)).or_default().push(source);
    }
    let longest = ends.iter().map(Vec::len).max().unwrap_or(0);
    let lengths: HashMap<&str, usize> = alike
        .into_iter()
        .map(|(stem, sources)| {
            let tells_apart = |length: &usize| {
                let names: HashSet<&str> = sources.iter().map(|source| end(*source, *length)).collect();
                names.len() == sources.len()
            };
            // A file that is named twice has one path only.
            (stem, (0..longest).find(tells_apart).unwrap_or(0))
        })
        .collect();
    let mut taken: HashMap<&str, usize> = HashMap::new();
    let names = (0..sources.len()).map(|source| {
        let name = end(source, lengths[end(source, 0)]);
        let count = taken.entry(name).or_default();
        *count += 1;
        match *count {
            1 => name.to_owned(),
            count => format!("{name} ({count})"),
        }
    });
    names.collect()
}

impl Source {
    /// Names from short to long: the stem, then the end of the path with more and more folders.
    fn ends(&self) -> Vec<String> {
        let mut ends = vec![self.names().1];
        if let Self::File(path) = self {
            let parts: Vec<_> = path
                .components()
                .map(|part| part.as_os_str().to_string_lossy())
                .collect();
            ends.extend((0..parts.len()).rev().map(|first| parts[first..].join("/")));
        }
        ends
    }

    /// The name in messages, and the stem.
    fn names(&self) -> (String, String) {
        match self {
            Self::File(path) => {
                let stem = path
                    .file_stem()
                    .map_or_else(|| "data".into(), |stem| stem.to_string_lossy());
                (path.display().to_string(), stem.into_owned())
            }
            Self::Text { name, .. } => ((*name).to_owned(), (*name).to_owned()),
        }
    }
}

fn read_source(source: &Source, file: &str, options: &ReadOptions) -> Result<(Header, Selection, Table), DataError> {
    let path = match source {
        // Built-in records are written with points, whatever the options say about files, and their rows are nobody's.
        Source::Text { content, .. } => {
            let form = TextForm {
                delimiter: Delimiter::Given(','),
                decimal: Decimal::Point,
                skip_rows: 0,
            };
            let (header, selection, mut table) = text::read(file, content.as_bytes(), &form, options)?;
            table.first_row = None;
            return Ok((header, selection, table));
        }
        Source::File(path) => path,
    };
    let mut handle = open(path, file)?;
    let file_bytes = handle.metadata().map_or(0, |metadata| metadata.len());
    let limit = Limit::new(file, file_bytes, options);
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    match extension.as_str() {
        "csv" | "tsv" | "txt" | "dat" => {
            let usual = match (extension.as_str(), options.decimal) {
                ("txt" | "dat", _) => Delimiter::Guessed,
                ("tsv", _) => Delimiter::Usual('\t'),
                (_, Decimal::Comma) => Delimiter::Usual(';'),
                (_, Decimal::Point) => Delimiter::Usual(','),
            };
            let form = TextForm {
                delimiter: options.delimiter.map_or(usual, Delimiter::Given),
                decimal: options.decimal,
                skip_rows: options.skip_rows,
            };
            text::read(file, text_reader(handle), &form, options)
        }
        "xlsx" | "xlsm" => sheet::read(file, path, &limit, options),
        "mat" if is_hdf5(&mut handle) => {
            let mut mat = Hdf5MatFile::new(file, path, options.max_samples)?;
            read_table(file, &mut mat, &limit, options)
        }
        "mat" => read_table(file, &mut MatFile::new(file, handle)?, &limit, options),
        "npz" => read_table(file, &mut NpzFile::new(file, handle)?, &limit, options),
        "npy" => read_table(file, &mut NpyFile::new(file, handle)?, &limit, options),
        #[cfg(feature = "parquet")]
        "parquet" => super::parquet::read(file, handle, &limit, options),
        #[cfg(not(feature = "parquet"))]
        "parquet" => Err(FileProblem::FeatureOff {
            format: "Parquet",
            feature: "parquet",
        }
        .of(file)),
        _ => Err(FileProblem::UnknownExtension { extension }.of(file)),
    }
}

pub(super) fn open(path: &Path, file: &str) -> Result<File, DataError> {
    let failed = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => FileProblem::FileNotFound.of(file),
        _ => FileProblem::Io { source }.of(file),
    };
    if path.metadata().map_err(failed)?.is_dir() {
        return Err(FileProblem::IsDirectory.of(file));
    }
    File::open(path).map_err(failed)
}

/// Spreadsheet programs write "Unicode text" as UTF-16: its first bytes tell, and it becomes UTF-8 on the way.
fn text_reader(handle: File) -> impl BufRead {
    let decoder = DecodeReaderBytesBuilder::new()
        .bom_override(true)
        .utf8_passthru(true)
        .strip_bom(false)
        .build(handle);
    BufReader::with_capacity(1 << 16, decoder)
}
