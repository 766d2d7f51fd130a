//! Small files that hold very many numbers are refused before they fill the memory.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use intervalid_data::{ReadOptions, read};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::fixture;

/// Two columns of these many zeros are more than is read from a small file without being asked for.
const ROWS: usize = 6_000_000;

fn npz(folder: &Path) -> PathBuf {
    let path = folder.join("bomb.npz");
    let mut archive = ZipWriter::new(fs::File::create(&path).expect("creates"));
    for name in ["u.npy", "y.npy"] {
        archive.start_file(name, SimpleFileOptions::default()).expect("starts");
        let header = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({ROWS},), }}\n");
        archive.write_all(b"\x93NUMPY\x01\x00").expect("writes");
        archive.write_all(&(header.len() as u16).to_le_bytes()).expect("writes");
        archive.write_all(header.as_bytes()).expect("writes");
        archive.write_all(&vec![0; ROWS]).expect("writes");
    }
    archive.finish().expect("finishes");
    path
}

/// Level 5 arrays of signed bytes, each in a compressed element.
fn mat(folder: &Path) -> PathBuf {
    let mut file = vec![b' '; 124];
    file.extend([0, 1, b'I', b'M']);
    for name in [b'u', b'y'] {
        let rows = ROWS as u32;
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        // Flags of class int8, dimensions, a name of one byte inside its tag, numbers.
        let mut body = words(&[6, 8, 8, 0, 5, 8, rows, 1]);
        body.extend([1, 0, 1, 0, name, 0, 0, 0]);
        body.extend(words(&[1, rows]));
        body.resize(body.len() + ROWS, 0);
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&words(&[14, body.len() as u32])).expect("writes");
        encoder.write_all(&body).expect("writes");
        let packed = encoder.finish().expect("finishes");
        file.extend(words(&[15, packed.len() as u32]));
        file.extend(packed);
    }
    let path = folder.join("bomb.mat");
    fs::write(&path, file).expect("writes");
    path
}

#[cfg(feature = "parquet")]
fn parquet(folder: &Path) -> PathBuf {
    use std::sync::Arc;

    use parquet::data_type::Int32Type;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    let path = folder.join("bomb.parquet");
    let schema = parse_message_type("message record { required int32 u; required int32 y; }").expect("parses");
    let properties = Arc::new(WriterProperties::builder().build());
    let file = fs::File::create(&path).expect("creates");
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), properties).expect("starts");
    let mut group = writer.next_row_group().expect("group");
    let zeros = vec![0; ROWS];
    while let Some(mut column) = group.next_column().expect("column") {
        column
            .typed::<Int32Type>()
            .write_batch(&zeros, None, None)
            .expect("writes");
        column.close().expect("closes");
    }
    group.close().expect("closes");
    writer.close().expect("closes");
    path
}

#[test]
fn a_small_file_may_not_hold_millions_of_values() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let bombs = [
        npz(folder.path()),
        mat(folder.path()),
        #[cfg(feature = "parquet")]
        parquet(folder.path()),
    ];
    for path in bombs {
        let bytes = fs::metadata(&path).expect("exists").len();
        assert!(bytes < 100_000, "{}: {bytes} bytes", path.display());
        let error = read(&[&path], &ReadOptions::default()).expect_err("a bomb").to_string();
        assert_eq!(
            error.replace(&format!("{}/", folder.path().display()), ""),
            format!(
                "{}: {bytes} bytes expand to 12000000 values, far more than a recording of that size holds",
                path.file_name().expect("a name").display()
            )
        );
        let meant = ReadOptions {
            max_samples: Some(12_000_000),
            ..ReadOptions::default()
        };
        assert_eq!(read(&[&path], &meant).expect("reads").samples(), ROWS);
    }
}

#[test]
fn a_given_limit_is_kept() {
    let files = [
        "plain.mat",
        "plain.npz",
        #[cfg(feature = "parquet")]
        "plain.parquet",
    ];
    for name in files {
        let path = fixture(name);
        // Six samples of two inputs and an output.
        let limited = |max_samples| {
            let options = ReadOptions {
                max_samples: Some(max_samples),
                ..ReadOptions::default()
            };
            read(&[&path], &options).map_err(|error| error.to_string())
        };
        assert!(limited(18).is_ok(), "{name}");
        let error = limited(17).expect_err("too many");
        assert!(
            error.ends_with(": 18 values announced for the chosen columns, expected at most 17"),
            "{error}"
        );
    }
}
