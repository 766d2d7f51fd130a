//! Damaged files end in an error or in data, never in a panic or a huge allocation.

use std::fs;

use intervalid_data::{ReadOptions, read};

use crate::{fixture, names};

fn survives(name: &str, options: &ReadOptions) {
    let good = fs::read(fixture(name)).expect("fixture");
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join(name);
    let try_bytes = |bytes: &[u8]| {
        // A new file each time: some file systems flush a file that is overwritten.
        if path.exists() {
            fs::remove_file(&path).expect("removes");
        }
        fs::write(&path, bytes).expect("writes");
        // Either outcome is fine; reaching the next line is the test.
        drop(read(&[&path], options));
    };
    for length in 0..good.len() {
        try_bytes(&good[..length]);
    }
    for index in 0..good.len() {
        for mask in [0x01, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[index] ^= mask;
            try_bytes(&bytes);
        }
    }
}

#[test]
fn matlab() {
    for name in ["plain.mat", "compressed.mat", "integers.mat"] {
        survives(name, &ReadOptions::default());
    }
}

#[test]
fn numpy() {
    let options = ReadOptions {
        inputs: names(&["c1"]),
        outputs: names(&["c3"]),
        ..ReadOptions::default()
    };
    survives("table.npy", &options);
    survives("fortran.npy", &options);
    survives("plain.npz", &ReadOptions::default());
    survives("compressed.npz", &ReadOptions::default());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet() {
    survives("plain.parquet", &ReadOptions::default());
    survives("nulls.parquet", &ReadOptions::default());
}

#[test]
fn claims_beyond_the_file_are_not_believed() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("a.npy");
    for shape in [
        "(1152921504606846976,)",
        "(1000000000000, 3)",
        "(18446744073709551615, 10000)",
        "(0, 5)",
        "(2, 99999999)",
    ] {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend([0; 64]);
        fs::write(&path, bytes).expect("writes");
        let column = if shape.contains(", 3") || shape.contains(", 1") || shape.contains(", 5") {
            "c1"
        } else {
            "c"
        };
        let options = ReadOptions {
            inputs: names(&[]),
            outputs: names(&[column]),
            ..ReadOptions::default()
        };
        let error = read(&[&path], &options).expect_err("cannot be read").to_string();
        assert!(
            [
                "ends early or is damaged",
                "no rows",
                "at most 10000 columns",
                "values announced"
            ]
            .iter()
            .any(|part| error.contains(part)),
            "{shape}: {error}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn text(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), header in "[uy,;\"\n 0-9.]{0,20}") {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join("a.csv");
        let mut content = header.into_bytes();
        content.extend(bytes);
        fs::write(&path, content).expect("writes");
        drop(read(&[&path], &ReadOptions::default()));
    }
}
