//! A perceptually uniform colour map.

/// Every eighth colour of viridis (van der Walt and Smith, 2015, public domain), and the last. Straight lines between
/// them stay within 2/255 of the original.
const VIRIDIS: [[u8; 3]; 33] = [
    [68, 1, 84],
    [71, 13, 96],
    [72, 24, 106],
    [72, 35, 116],
    [71, 45, 123],
    [69, 54, 129],
    [66, 64, 134],
    [63, 73, 137],
    [59, 82, 139],
    [55, 90, 141],
    [51, 99, 141],
    [47, 106, 142],
    [44, 114, 142],
    [41, 122, 142],
    [38, 129, 142],
    [35, 137, 142],
    [33, 144, 140],
    [31, 152, 139],
    [31, 159, 136],
    [33, 166, 133],
    [40, 174, 128],
    [49, 181, 123],
    [62, 188, 116],
    [76, 194, 108],
    [93, 201, 99],
    [110, 206, 88],
    [130, 211, 76],
    [150, 216, 63],
    [171, 220, 50],
    [192, 223, 36],
    [213, 226, 26],
    [234, 229, 26],
    [253, 231, 37],
];

/// Number of distinct colours.
pub(crate) const LEVELS: usize = 128;

/// The level of a share in 0 to 1; shares outside get the level at the end.
pub(crate) fn level(share: f64) -> usize {
    (share.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize
}

/// The colour of a level below [`LEVELS`], as `#rrggbb`.
pub(crate) fn colour(level: usize) -> String {
    let position = level as f64 / (LEVELS - 1) as f64 * (VIRIDIS.len() - 1) as f64;
    let index = (position as usize).min(VIRIDIS.len() - 2);
    let share = position - index as f64;
    let mix = |channel: usize| {
        let (low, high) = (
            f64::from(VIRIDIS[index][channel]),
            f64::from(VIRIDIS[index + 1][channel]),
        );
        (low + share * (high - low)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_the_map() {
        assert_eq!(colour(level(0.0)), "#440154");
        assert_eq!(colour(level(1.0)), "#fde725");
        assert_eq!(level(-3.0), 0);
        assert_eq!(level(7.0), LEVELS - 1);
    }

    #[test]
    fn grows_lighter() {
        let green = |level: usize| u8::from_str_radix(&colour(level)[3..5], 16).unwrap();
        assert!((1..LEVELS).all(|level| green(level) >= green(level - 1)));
    }
}
