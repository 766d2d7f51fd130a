use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::archive::mutate_member;

/// Largest input: enough for every format, small enough for thousands per second.
pub const LONGEST: usize = 1 << 17;

/// Numbers at the borders of types, where lengths and counts go wrong.
const BORDERS: [u64; 10] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

/// Pieces of the formats that are read here.
const WORDS: [&str; 36] = [
    "nan",
    "inf",
    "-1e999",
    "1e308",
    "4294967296",
    "18446744073709551615",
    "-0",
    "0x10",
    "\"",
    "'",
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    "#",
    "[",
    "]",
    "{",
    "}",
    ":",
    "=",
    "null",
    "true",
    "\u{feff}",
    "\u{202e}",
    "\u{1b}[31m",
    "u1",
    "y",
    "../",
    "hidden",
    "lags",
    "data_offsets",
    "shape",
    "F32",
    "\0",
];

/// One to eight random changes of `input`; `other` is spliced in at times.
pub fn mutate(input: &[u8], other: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    // Not of a member that is an archive again: that never ends.
    if input.starts_with(b"PK")
        && !other.is_empty()
        && rng.random()
        && let Some(changed) = mutate_member(input, rng)
    {
        return changed;
    }
    let mut bytes = input.to_vec();
    for _ in 0..1 << rng.random_range(0..4) {
        change(&mut bytes, other, rng);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], rng: &mut ChaCha8Rng) {
    let at = rng.random_range(0..=bytes.len());
    let end = (at + rng.random_range(0..=32)).min(bytes.len());
    match rng.random_range(0..11) {
        0 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
        1 if at < bytes.len() => bytes[at] = rng.random(),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let copy = bytes[at..end].to_vec();
            let to = rng.random_range(0..=bytes.len());
            bytes.splice(to..to, copy);
        }
        4 => {
            let value = BORDERS[rng.random_range(0..BORDERS.len())].to_le_bytes();
            let width = 1 << rng.random_range(0..4);
            let end = (at + width).min(bytes.len());
            let count = end - at;
            bytes[at..end].copy_from_slice(&value[..count]);
        }
        5 | 6 => {
            let word = WORDS[rng.random_range(0..WORDS.len())];
            let end = if rng.random() { end } else { at };
            bytes.splice(at..end, word.bytes());
        }
        7 => digits(bytes, at, rng),
        8 if !other.is_empty() => {
            let from = rng.random_range(0..other.len());
            let to = (from + rng.random_range(1..=256)).min(other.len());
            bytes.splice(at..end, other[from..to].iter().copied());
        }
        9 => bytes.truncate(at),
        _ => {
            let many = rng.random_range(1..=64);
            let byte: u8 = rng.random();
            bytes.splice(at..at, std::iter::repeat_n(byte, many));
        }
    }
}

/// Replaces the next decimal number by another.
fn digits(bytes: &mut Vec<u8>, from: usize, rng: &mut ChaCha8Rng) {
    let Some(start) = bytes[from..]
        .iter()
        .position(u8::is_ascii_digit)
        .map(|offset| from + offset)
    else {
        return;
    };
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let value = match rng.random_range(0..3) {
        0 => BORDERS[rng.random_range(0..BORDERS.len())],
        1 => rng.random_range(0..100),
        _ => rng.random(),
    };
    bytes.splice(start..start + length, value.to_string().bytes());
}
