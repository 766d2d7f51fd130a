//! Peak memory of reading, scaling and cutting a long record. A binary of its own: the counting allocator must see no
//! other test.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use intervalid_data::{InitialState, Lags, Normaliser, Part, ReadOptions, WindowConfig, Windows, read};
use intervalid_testkit::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// Two columns of samples that do not repeat.
fn sample(k: usize) -> [f64; 2] {
    [(k as f64 * 0.37).sin(), (k as f64 * 0.11).cos()]
}

fn write_npy(path: &Path, rows: usize) -> std::io::Result<()> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 2), }}\n");
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&(header.len() as u16).to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    for value in (0..rows).flat_map(sample) {
        file.write_all(&value.to_le_bytes())?;
    }
    file.flush()
}

fn write_csv(path: &Path, rows: usize) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "c1,c2")?;
    for [u, y] in (0..rows).map(sample) {
        writeln!(file, "{u:.5},{y:.5}")?;
    }
    file.flush()
}

/// Peak bytes over data bytes for the whole way from file to windows.
fn peak_ratio(path: &Path, rows: usize) -> f64 {
    let options = ReadOptions {
        inputs: Some(vec!["c1".to_owned()]),
        outputs: Some(vec!["c2".to_owned()]),
        ..ReadOptions::default()
    };
    let (windows, count) = ALLOCATOR.measure(|| {
        let dataset = read(&[path], &options).expect("reads");
        let part = Part::whole(&dataset);
        let scaled = Normaliser::fit(&dataset, &part).expect("fits").scale::<f64>(&dataset);
        let config = WindowConfig { length: 100, step: 1 };
        let lags = Lags { nx: 2, nd: 0, ny: 3 };
        let windows = Windows::new(&dataset, &part, lags, InitialState::ZeroPadded, config).expect("windows");
        // Touch every window, as training does.
        let outputs = scaled.experiments()[0].output(0);
        assert!(
            windows
                .iter()
                .all(|window| outputs[window.start..window.start + window.len].len() == 100)
        );
        windows.len()
    });
    assert_eq!(windows, rows - 100);
    count.peak_bytes as f64 / (rows * 2 * size_of::<f64>()) as f64
}

#[test]
#[expect(clippy::print_stderr, reason = "the measured figure is the point of the test")]
fn peak_memory_is_below_three_times_the_data() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (npy, csv) = (folder.path().join("a.npy"), folder.path().join("a.csv"));
    let rows = [10_000_000, 1_000_000];
    write_npy(&npy, rows[0]).expect("writes");
    write_csv(&csv, rows[1]).expect("writes");
    for (path, rows) in [(npy, rows[0]), (csv, rows[1])] {
        let ratio = peak_ratio(&path, rows);
        eprintln!("{}: {rows} rows, peak {ratio:.3} times the data as f64", path.display());
        // The data, their normalised copy in the same precision, and some room for a growing column.
        assert!(ratio < 2.6, "{}: {ratio}", path.display());
    }
}
